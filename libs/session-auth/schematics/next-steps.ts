import type { Rule, TaskConfigurationGenerator } from '@angular-devkit/schematics';

interface NextSteps {
  readonly text: string;
}

/** Logs the next steps. A separate schematic, because only a task can run after the installation. */
export function nextSteps({ text }: NextSteps): Rule {
  return (_tree, { logger }) => logger.info(text);
}

/** Returns the task that logs the next steps. */
export function saying(text: string): TaskConfigurationGenerator<object> {
  return {
    toConfiguration: () => ({ name: 'run-schematic', options: { name: 'next-steps', options: { text } } }),
  };
}
