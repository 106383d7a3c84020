/** Entry point of the schematics: the factories that `collection.json` refers to. */
export { nestAdd } from './nest-add.js';
export { nextSteps } from './next-steps.js';
