import { createHmac, createPrivateKey, sign } from 'node:crypto';

/** Returns the lowercase hex digest of the exact body bytes. Source: webhooks, section 6.4. */
export function hubSignature(
  algorithm: 'sha1' | 'sha256',
  secret: string,
  body: Uint8Array,
): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;
}

export interface StandardMessage {
  readonly id: string;
  /** Time of the attempt in epoch seconds. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** Returns `v1,...`, signed with a symmetric secret. Source: webhooks, section 6.5. */
export function standardSignature(secret: string, message: StandardMessage): string {
  const hmac = createHmac('sha256', standardKey(secret)).update(headOf(message));
  return `v1,${hmac.update(message.body).digest('base64')}`;
}

/** Returns `v1a,...`, signed with a private key (PKCS#8 in base64). */
export function standardEd25519Signature(privateKey: string, message: StandardMessage): string {
  const key = createPrivateKey({
    key: Buffer.from(privateKey, 'base64'),
    format: 'der',
    type: 'pkcs8',
  });
  const signature = sign(null, Buffer.concat([Buffer.from(headOf(message)), message.body]), key);
  return `v1a,${signature.toString('base64')}`;
}

const headOf = ({ id, timestamp }: StandardMessage): string => `${id}.${timestamp}.`;

/**
 * Returns the key of a secret. A `whsec_` secret contains its key in base64; any other secret is
 * itself the key.
 */
function standardKey(secret: string): Uint8Array {
  if (secret.startsWith('whsec_')) {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    if (key.length >= 24 && key.length <= 64) return key;
  }
  return Buffer.from(secret);
}
