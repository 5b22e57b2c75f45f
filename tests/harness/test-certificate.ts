import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A key and a self-signed certificate for the loopback addresses, valid for a hundred years. */
export interface TestCertificate {
  readonly keyFile: string;
  readonly certFile: string;
  /** The certificate that clients have to trust. */
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

/** Flags of a server that uses the certificate for TLS. */
export const tlsFlags = ({ keyFile, certFile }: TestCertificate): readonly string[] => [
  '--tls-key',
  keyFile,
  '--tls-cert',
  certFile,
];
