import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A key and a certificate of its own for this machine's loopback addresses, good for a hundred years. */
export interface TestCertificate {
  readonly keyFile: string;
  readonly certFile: string;
  /** What a client has to believe. */
  readonly ca: Buffer;
}

export function testCertificate(
  name: 'first' | 'second' | 'expired' | 'elsewhere',
): TestCertificate {
  const fileOf = (part: string) =>
    fileURLToPath(new URL(`../../harness/tls/${name}-${part}.pem`, import.meta.url));
  const certFile = fileOf('cert');
  return { keyFile: fileOf('key'), certFile, ca: readFileSync(certFile) };
}

/** Flags of a server that speaks TLS with it. */
export const tlsFlags = ({ keyFile, certFile }: TestCertificate): readonly string[] => [
  '--tls-key',
  keyFile,
  '--tls-cert',
  certFile,
];
