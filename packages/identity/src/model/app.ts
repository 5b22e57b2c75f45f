import { createHash, createPublicKey, type KeyObject } from 'node:crypto';

export interface AppOwner {
  readonly login: string;
  readonly id: number;
  readonly type: 'User' | 'Organization';
  readonly plan: 'free' | 'enterprise';
}

export interface AppKey {
  readonly id: number;
  /** Base64 of the SHA-256 of the key in DER. */
  readonly fingerprint: string;
  /** SPKI in PEM. */
  readonly publicKey: string;
  readonly createdMs: number;
}

/** A registered application. */
export interface App {
  readonly id: number;
  readonly client_id: string;
  readonly slug: string;
  readonly name: string;
  readonly owner: AppOwner | undefined;
  readonly keys: readonly AppKey[];
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly suspendedMs: number | undefined;
  /** Grows with every change of the app, its keys included. */
  readonly version: number;
}

/** The two names of an app. */
export type AppSelector = { readonly id: number } | { readonly client_id: string };

/** Source: webhooks, section 10. */
export const MAX_KEY_COUNT = 25;

const MIN_KEY_BITS = 2048;
const MAX_KEY_BITS = 16_384;

/** The public RSA key in a PEM text of SPKI, PKCS#1 or a certificate; `undefined` when it holds none that is fit. */
export function readPublicKey(pem: string): KeyObject | undefined {
  // A private key would be taken, too, and its public half used: whoever sends one has sent it to the wrong place.
  if (pem.includes('PRIVATE KEY')) return undefined;
  try {
    const key = createPublicKey(pem);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return key.asymmetricKeyType === 'rsa' && bits >= MIN_KEY_BITS && bits <= MAX_KEY_BITS
      ? key
      : undefined;
  } catch {
    return undefined;
  }
}

/** SHA-256 of the public key (SPKI, DER) in Base64. */
export function fingerprintOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64');
}

/** What stands in URLs for a name: `My App!` becomes `my-app`. */
export function slugOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'app'
  );
}
