import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BASE62, type Random, randomLetters } from '@plinth/kernel';

export const CREDENTIAL_KINDS = [
  'personal',
  'oauth',
  'app_user',
  'installation',
  'workflow',
] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** Third letter of a token, after the two letters of the vendor: `plp_`, `plo_`, ... */
const KIND_LETTER: Readonly<Record<CredentialKind, string>> = {
  personal: 'p',
  oauth: 'o',
  app_user: 'u',
  installation: 's',
  workflow: 'w',
};

/** Stored form of a credential. Its text is returned once, on creation. */
export interface Credential {
  readonly id: number;
  /** SHA-256 of the text, in hex. */
  readonly hash: string;
  readonly kind: CredentialKind;
  /** Key of the identity that it authenticates. */
  readonly identity: string;
  /** Id of an app, or client id of an OAuth app, on whose behalf it was issued. */
  readonly viaApp: string | undefined;
  readonly createdMs: number;
  readonly expiresMs: number | undefined;
}

const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/** Generates 30 random letters and their checksum, so that a mistyped token is rejected without a look-up. */
export function makeCredentialText(random: Random, vendor: string, kind: CredentialKind): string {
  const letters = randomLetters(random, RANDOM_LENGTH);
  return `${vendor}${KIND_LETTER[kind]}_${letters}${checksumOf(letters)}`;
}

/**
 * Whether the text has the form of a credential of this server. Does not check that the credential
 * exists.
 */
export function isCredentialText(text: string, vendor: string): boolean {
  const shape = /^([A-Za-z]{2,6})[pousw]_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/.exec(text);
  if (shape === null) return false;
  const [, prefix, letters = '', checksum] = shape;
  return prefix === vendor && checksumOf(letters) === checksum;
}

export const hashCredential = (text: string): string => hash('sha256', text, 'hex');

/** Returns the CRC-32 in base 62, six digits. */
function checksumOf(letters: string): string {
  let rest = crc32(letters);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = (BASE62[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
