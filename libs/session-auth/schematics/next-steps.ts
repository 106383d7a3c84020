import type { Rule, TaskConfigurationGenerator } from '@angular-devkit/schematics';

interface NextSteps {
  readonly text: string;
}

/** Says what is left to do; a schematic of its own, because only so can it come after the installation. */
export function nextSteps({ text }: NextSteps): Rule {
  return (_tree, { logger }) => logger.info(text);
}

export function saying(text: string): TaskConfigurationGenerator<object> {
  return { toConfiguration: () => ({ name: 'run-schematic', options: { name: 'next-steps', options: { text } } }) };
}
