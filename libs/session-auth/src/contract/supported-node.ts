/**
 * Throws on a version of Node.js on which undici or Nest fail to load: a sentence instead of their stack
 * traces.
 */
export function requireSupportedNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < 20 || major === 21 || (major === 20 && minor < 19) || (major === 22 && minor < 12);
  if (!isOld) return;
  const error = new Error(
    `nestjs-session-auth needs Node.js 20.19, 22.12, 24 or later. This is Node.js ${version}.`,
  );
  error.stack = error.message;
  throw error;
}

requireSupportedNode(process.versions.node);
