import type { InjectionToken, Provider } from '@nestjs/common';

/**
 * A part of the library that an application opens by naming it in `plugins`. The library's own:
 * `sessionSockets` of `nestjs-session-auth/sockets`.
 */
export interface SessionAuthPlugin {
  /**
   * Returns what the part adds to a registration. Called when its module is declared: what can fail belongs
   * into a factory.
   */
  open(): OpenedPart;
}

/** The addition of a part to a registration. */
export interface OpenedPart {
  /** They inject the registration by `GUARD_REGISTRATION`, and what Nest provides: nothing else. */
  readonly providers: readonly Provider[];
  /** Injection tokens of those that an application may inject. */
  readonly exports: readonly InjectionToken[];
}

export type PluginClass = abstract new (...parts: never[]) => object;

/**
 * The classes of the plugins whose entries the application has imported: the name of each in messages, because
 * a bundler may rename it, and its plugin.
 */
export const PLUGIN_CLASSES = new Map<PluginClass, { readonly name: string; readonly plugin: string }>();

/**
 * Names the plugin that provides a class: an application that injects the class without the plugin does not
 * start, and the error names the plugin.
 * @param plugin the value and its entry: `sessionSockets of nestjs-session-auth/sockets`
 */
export function ProvidedBy(plugin: string, name: string): (provided: PluginClass) => void {
  return (provided) => void PLUGIN_CLASSES.set(provided, { name, plugin });
}
