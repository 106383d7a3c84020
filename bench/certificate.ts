import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate for 127.0.0.1, in a file that `NODE_EXTRA_CA_CERTS` may name. */
export interface CertificateFile {
  readonly certificate: Certificate;
  readonly path: string;
  /** Deletes the file. */
  stop(): Promise<void>;
}

/** Issues a certificate with `openssl`. */
export function issueCertificate(): CertificateFile {
  const folder = mkdtempSync(join(tmpdir(), 'session-auth-bench-'));
  const [path, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyPath];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...key, ...names, '-days', '30', '-out', path], {
    stdio: 'ignore',
  });
  return {
    certificate: { cert: readFileSync(path, 'utf8'), key: readFileSync(keyPath, 'utf8') },
    path,
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}
