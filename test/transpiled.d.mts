/** Transpiles a source, or takes it from the cache. */
export function transpiled(text: string): { readonly code: string };
