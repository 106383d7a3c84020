import { describe, expect, it } from '@jest/globals';
import { readCommandLine } from '../../libs/session-auth/src/commands/command-line.js';
import { paintFor } from '../../libs/session-auth/src/commands/paint.js';
import { runCommand } from '../../libs/session-auth/src/commands/run-command.js';
import { SUBCOMMANDS } from '../../libs/session-auth/src/commands/subcommands.js';
import { captureIo } from './captured-io.js';

describe('the command', () => {
  it('lists its subcommands for --help, and without arguments, which is exit code 2', async () => {
    for (const [args, code] of [
      [['--help'], 0],
      [['-h'], 0],
      [[], 2],
    ] as const) {
      const io = captureIo();
      expect(await runCommand(args, io)).toBe(code);
      for (const { name, summary } of SUBCOMMANDS) expect(io.out()).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
    }
  });

  it.each(SUBCOMMANDS.map(({ name }) => [name]))('%s explains itself for --help, and refuses an unknown option', async (name) => {
    const help = captureIo();
    expect(await runCommand([name, '--help'], help)).toBe(0);
    expect(help.out()).toMatch(new RegExp(`^Usage: nestjs-session-auth ${name} `));
    expect(help.out()).toContain('Exit code:\n  0');
    const refused = captureIo();
    expect(await runCommand([name, '--passwordd=hunter2'], refused)).toBe(2);
    expect([refused.out(), refused.err()]).toEqual(['', `Unknown option --passwordd. See: nestjs-session-auth ${name} --help\n`]);
  });

  it('refuses an unknown subcommand with one sentence and exit code 2', async () => {
    const io = captureIo();
    expect(await runCommand(['heal'], io)).toBe(2);
    expect(io.err()).toMatch(/^Unknown subcommand\. One of: dev, doctor.*\n$/);
  });

  it('prints of a fault of its own only the name and the code', async () => {
    const io = captureIo();
    const error = Object.assign(new TypeError('the key is hunter2'), { code: 'ERR_TRIAL' });
    const broken = { name: 'broken', summary: '', run: () => Promise.reject(error) };
    expect(await runCommand(['broken'], io, [broken])).toBe(1);
    expect(io.err()).toBe('The command failed: TypeError (ERR_TRIAL). This is a fault of nestjs-session-auth.\n');
  });
});

describe('a command line', () => {
  const line = {
    name: 'trial',
    about: 'Tries.',
    options: {
      url: { type: 'string', value: 'URL', about: 'where' },
      user: { type: 'string', value: 'NAME', about: 'who', multiple: true },
      json: { type: 'boolean', about: 'how' },
    },
  } as const;

  it('is read into the values of its options', () => {
    expect({ ...(readCommandLine(line, ['--url', 'http://a', '--user=ann', '--user=bob', '--json']) as object) }).toEqual({
      url: 'http://a',
      user: ['ann', 'bob'],
      json: true,
    });
  });

  it.each([
    [['--url'], 'Option --url is incomplete, or takes no value.'],
    [['--json=hunter2'], 'Option --json is incomplete, or takes no value.'],
    [['--url', '--json'], 'Option --url is incomplete, or takes no value.'],
    [['hunter2'], 'There is an argument that belongs to no option.'],
    [['--key=hunter2'], 'Unknown option --key.'],
    [['-k', 'hunter2'], 'Unknown option -k.'],
  ])('%j is refused without the value: %s', (args, problem) => {
    expect(() => readCommandLine(line, args)).toThrow(`${problem} See: nestjs-session-auth trial --help`);
  });
});

describe('the output of a command', () => {
  it.each([
    [true, {}, '\u001b[31mno\u001b[39m'],
    [true, { NO_COLOR: '1' }, 'no'],
    [false, {}, 'no'],
  ])('on a terminal: %s, with %j, is coloured only on a terminal without NO_COLOR', (isTTY, env, expected) => {
    const io = captureIo(env, isTTY);
    expect(paintFor(io.stdout, io)('red', 'no')).toBe(expected);
  });
});
