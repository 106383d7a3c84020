export { SameOriginGuard } from './same-origin.guard.js';
export type { CrossOriginOptions } from '../guard/cross-origin.js';
