import 'reflect-metadata';
import { RequestMethod, VERSION_NEUTRAL, VersioningType, type Type } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { modulePathOf } from './route-paths.js';
import type { Handler } from '../guard/handlers.js';

const PATH = 'path';
const METHOD = 'method';
const VERSION = '__version__';
const HOST = 'host';

/** Returns the modules that have a class as a controller. */
export function controllerModulesOf(owner: Type, modules: ModulesContainer): object[] {
  return [...modules.values()]
    .filter(({ controllers }) => controllers.has(owner))
    .map(({ metatype }) => metatype);
}

/**
 * Returns the routes of a handler as `GET /api/v1/openings`, built as Nest builds them. A version outside of
 * the path, and a host, follow the path.
 */
export function routesOf(handler: Handler, modules: ModulesContainer, config: ApplicationConfig): string[] {
  const { owner, method } = handler;
  const requestMethod = Reflect.getMetadata(METHOD, method) as RequestMethod;
  const host: unknown = Reflect.getMetadata(HOST, owner);
  const routes = versionsOf(handler, config).flatMap(({ path: version, suffix }) => {
    const modulePaths = controllerModulesOf(owner, modules).map((module) => modulePathOf(module, modules));
    const paths = [modulePaths, Reflect.getMetadata(PATH, owner), Reflect.getMetadata(PATH, method)].reduce<
      string[]
    >(append, ['']);
    return paths.map(
      (path) => `${RequestMethod[requestMethod]} ${prefixed(version, path, requestMethod, config)}${suffix}`,
    );
  });
  return [
    ...new Set(
      host === undefined
        ? routes
        : routes.map((route) => `${route} (host ${[host].flat().map(String).join(', ')})`),
    ),
  ];
}

interface Version {
  /** The part of the path for the version; empty without one. */
  readonly path: string;
  /** Follows the path, for a version that is not part of it. */
  readonly suffix: string;
}

function versionsOf({ owner, method }: Handler, config: ApplicationConfig): Version[] {
  const options = config.getVersioning();
  const declared = (Reflect.getMetadata(VERSION, method) ??
    Reflect.getMetadata(VERSION, owner) ??
    options?.defaultVersion) as string | symbol | (string | symbol)[] | undefined;
  if (!options || declared === undefined) return [{ path: '', suffix: '' }];
  return [declared].flat().map((version) => {
    if (version === VERSION_NEUTRAL) return { path: '', suffix: '' };
    if (options.type !== VersioningType.URI) return { path: '', suffix: ` (version ${String(version)})` };
    return {
      path: `/${options.prefix === false ? '' : (options.prefix ?? 'v')}${String(version)}`,
      suffix: '',
    };
  });
}

function append(paths: readonly string[], part: unknown): string[] {
  const parts = [part].flat().filter((candidate) => candidate === undefined || typeof candidate === 'string');
  return paths.flatMap((path) =>
    parts.map((own) =>
      own === undefined || own === '' || own === '/' ? path : `${path}/${own.replace(/^\/+|\/+$/g, '')}`,
    ),
  );
}

/** Nest leaves the global prefix out of excluded routes, and compares them without the version. */
function prefixed(version: string, path: string, method: RequestMethod, config: ApplicationConfig): string {
  const excluded = config.getGlobalPrefixOptions().exclude ?? [];
  const isExcluded = excluded.some(
    ({ requestMethod, pathRegex }) =>
      [RequestMethod.ALL, -1, method].includes(requestMethod) && pathRegex.test(path || '/'),
  );
  const prefix = isExcluded
    ? ''
    : config
        .getGlobalPrefix()
        .replace(/^\/*(?=.)/, '/')
        .replace(/\/+$/, '');
  return `${prefix}${version}${path}` || '/';
}
