import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';

const PACKAGES = [
  ...[
    'nestjs-session-auth',
    '@nestjs/core',
    '@nestjs/platform-express',
    '@nestjs/platform-fastify',
    '@nestjs/axios',
    'axios',
    'undici',
  ],
  ...[
    'lru-cache',
    '@nestjs/passport',
    'passport',
    'passport-custom',
    'nest-keycloak-connect',
    'keycloak-connect',
  ],
  ...['class-validator', 'class-transformer'],
];

/** Returns the machine and the versions of this run. */
export function environmentLines(nginxVersion: string | undefined): string[] {
  const processors = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return [
    `Date: ${new Date().toISOString().slice(0, 10)}`,
    `Machine: ${processors[0]?.model.trim() ?? 'unknown processor'}, ${processors.length} cores, ${gigabytes} GB of memory`,
    `Node.js ${process.versions.node}, ${process.platform} ${process.arch}`,
    `Packages: ${PACKAGES.map((name) => `${name} ${versionOf(name)}`).join(', ')}`,
    ...(nginxVersion === undefined ? [] : [`nginx ${nginxVersion}`]),
  ];
}

function versionOf(name: string): string {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')) as { version: string })
        .version;
    } catch {
      continue;
    }
  }
  return 'not found';
}
