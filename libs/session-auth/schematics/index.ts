/** The collection's entry: what `collection.json` names. */
export { nestAdd } from './nest-add.js';
export { nextSteps } from './next-steps.js';
