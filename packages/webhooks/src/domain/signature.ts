import { createHmac, createPrivateKey, sign } from 'node:crypto';

/** Lower-case hex digests over the exact bytes of the body. Source: webhooks, section 6.4. */
export function hubSignature(
  algorithm: 'sha1' | 'sha256',
  secret: string,
  body: Uint8Array,
): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;
}

export interface StandardMessage {
  readonly id: string;
  /** Epoch seconds of the attempt. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** `v1,...` of a symmetric secret. Source: webhooks, section 6.5. */
export function standardSignature(secret: string, message: StandardMessage): string {
  const hmac = createHmac('sha256', standardKey(secret)).update(headOf(message));
  return `v1,${hmac.update(message.body).digest('base64')}`;
}

/** `v1a,...` of a private key: PKCS#8 in base64. */
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

/** A `whsec_` secret holds its key in base64; any other is the key itself. */
function standardKey(secret: string): Uint8Array {
  if (secret.startsWith('whsec_')) {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    if (key.length >= 24 && key.length <= 64) return key;
  }
  return Buffer.from(secret);
}
