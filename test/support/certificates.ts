import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A self-signed certificate and its key, as PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/**
 * Issues a self-signed certificate with `openssl`, for an address such as `IP:127.0.0.1`, into a folder of a
 * test.
 */
export function issueCertificate(
  folder: string,
  { address, endsIn = 2099 }: { readonly address: string; readonly endsIn?: number },
): Certificate {
  const place = mkdtempSync(join(folder, 'certificate-'));
  const run = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: place, stdio: 'ignore' });
  writeFileSync(join(place, 'index'), '');
  writeFileSync(join(place, 'ca.conf'), configuration(address));
  const key = 'ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out request';
  run('req', '-subj', `/CN=${address} ${endsIn}`, ...`-new -newkey ${key}`.split(' '));
  const dates = `-startdate 20200101000000Z -enddate ${endsIn}0101000000Z`;
  const files = '-config ca.conf -keyfile key -in request -out cert';
  run('ca', ...`-batch -selfsign ${files} -notext -rand_serial ${dates}`.split(' '));
  return { key: readFileSync(join(place, 'key'), 'utf8'), cert: readFileSync(join(place, 'cert'), 'utf8') };
}

function configuration(address: string): string {
  return [
    '[ca]\ndefault_ca = authority',
    '[authority]\ndatabase = index\nnew_certs_dir = .\nrand_serial = yes\ndefault_md = sha256\npolicy = any\nx509_extensions = names',
    '[any]\ncommonName = supplied',
    `[names]\nsubjectAltName = ${address}\n`,
  ].join('\n');
}
