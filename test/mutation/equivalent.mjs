/**
 * Mutants that change nothing that a program can observe, or no more than a text. Each entry: the file, the original and its replacement (with white
 * space as single spaces), the reason, and a part of the first line or the number of places where the rest is not unique.
 */
export const EQUIVALENT = [];
