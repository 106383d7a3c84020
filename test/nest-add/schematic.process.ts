// Runs the collection with the devkit's own runner. A separate process, because Jest cannot load the devkit
// on Node 20.
import { join } from 'node:path';
import { HostTree } from '@angular-devkit/schematics';
import { SchematicTestRunner, UnitTestTree } from '@angular-devkit/schematics/testing/index.js';
import type { Answer, Question } from './nest-add.js';

const collection = join(import.meta.dirname, 'schematics/collection.json');

async function answer({ files, options, encoding }: Question): Promise<Answer> {
  const runner = new SchematicTestRunner('nestjs-session-auth', collection);
  const tree = new UnitTestTree(new HostTree());
  for (const [path, content] of Object.entries(files)) tree.create(path, Buffer.from(content, encoding));
  const result = await runner.runSchematic('nest-add', options, tree);
  const tasks = runner.tasks.map(({ name, options: given }) => ({ name, options: given as object }));
  const said: string[] = [];
  runner.logger.subscribe(({ message }) => said.push(message));
  for (const { name, options: last } of tasks) {
    if (name === 'run-schematic')
      await runner.runSchematic('next-steps', (last as { options: object }).options, result);
  }
  const paths = result.files.map(
    (path) => [path.slice(1), result.read(path)?.toString(encoding) ?? ''] as const,
  );
  return { files: Object.fromEntries(paths), tasks, said: said.join('\n') };
}

process.on('message', (question: Question) => {
  void answer(question).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
