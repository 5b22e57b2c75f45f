import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { SecureContextOptions } from 'node:tls';
import { createSecureContext } from 'node:tls';
import { ConfigInvalid, messageOf } from '@plinth/kernel';
import type { ServerSettings } from '../../settings.js';

/** Paths of key and certificate, and the minimum version. */
export interface TlsSettings {
  readonly keyFile: string;
  readonly certFile: string;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
}

/** A matching key and certificate. */
export interface TlsIdentity {
  readonly options: SecureContextOptions;
  /** For the log: subject and expiry of the certificate. */
  readonly subject: string;
  readonly validTo: string;
}

/**
 * Returns the TLS settings; `undefined` without TLS.
 * @throws {ConfigInvalid} if only key or certificate is set: the port would silently stay unencrypted.
 */
export function tlsSettingsOf(settings: ServerSettings): TlsSettings | undefined {
  const { tls_key: keyFile, tls_cert: certFile, tls_minimum_version } = settings;
  if (keyFile === undefined && certFile === undefined) return undefined;
  if (keyFile === undefined) throw new ConfigInvalid(['--tls-cert: also requires --tls-key']);
  if (certFile === undefined) throw new ConfigInvalid(['--tls-key: also requires --tls-cert']);
  const minVersion = tls_minimum_version === 'tls-1.3' ? 'TLSv1.3' : 'TLSv1.2';
  return { keyFile, certFile, minVersion };
}

/** Reads and checks both files. Throws `ConfigInvalid` with the problem. */
export async function readTlsIdentity(settings: TlsSettings): Promise<TlsIdentity> {
  const [key, cert] = await Promise.all([
    readGiven('--tls-key', settings.keyFile),
    readGiven('--tls-cert', settings.certFile),
  ]);
  const options = { key, cert, minVersion: settings.minVersion };
  const certificate = attempt('--tls-cert', settings.certFile, () => new X509Certificate(cert));
  // Also detects a key that does not match the certificate.
  attempt('--tls-key', settings.keyFile, () => createSecureContext(options));
  return {
    options,
    subject: certificate.subject?.replaceAll('\n', ', ') ?? '',
    validTo: new Date(certificate.validTo).toISOString(),
  };
}

async function readGiven(flag: string, file: string): Promise<Buffer> {
  try {
    // Reading a pipe would block the start and reloads until another process writes to it.
    if (!(await stat(file)).isFile()) throw new Error(`${file} is not a regular file`);
    return await readFile(file);
  } catch (error) {
    throw new ConfigInvalid([`${flag}: ${messageOf(error)}`]);
  }
}

function attempt<T>(flag: string, file: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const reason = messageOf(error);
    throw new ConfigInvalid([`${flag}: ${file} cannot be used: ${reason}`]);
  }
}
