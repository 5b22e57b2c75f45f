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

/** Third letter of a token, after the two of the vendor: `plp_`, `plo_`, ... */
const KIND_LETTER: Readonly<Record<CredentialKind, string>> = {
  personal: 'p',
  oauth: 'o',
  app_user: 'u',
  installation: 's',
  workflow: 'w',
};

/** What is kept of a credential. Its text is told once, when it is made. */
export interface Credential {
  readonly id: number;
  /** SHA-256 of the text, in hex. */
  readonly hash: string;
  readonly kind: CredentialKind;
  /** Key of the identity it speaks for. */
  readonly identity: string;
  /** Id of an app, or client id of an OAuth app, in whose name it was issued. */
  readonly viaApp: string | undefined;
  readonly createdMs: number;
  readonly expiresMs: number | undefined;
}

const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/** 30 random letters and a checksum of them: a mistyped token is known for one without a look-up. */
export function makeCredentialText(random: Random, vendor: string, kind: CredentialKind): string {
  const letters = randomLetters(random, RANDOM_LENGTH);
  return `${vendor}${KIND_LETTER[kind]}_${letters}${checksumOf(letters)}`;
}

/** Whether the text can be a token of ours at all; says nothing about whether it is one. */
export function isCredentialText(text: string, vendor: string): boolean {
  const shape = /^([A-Za-z]{2,6})[pousw]_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/.exec(text);
  if (shape === null) return false;
  const [, prefix, letters = '', checksum] = shape;
  return prefix === vendor && checksumOf(letters) === checksum;
}

export const hashCredential = (text: string): string => hash('sha256', text, 'hex');

/** CRC-32 in base 62, six digits. */
function checksumOf(letters: string): string {
  let rest = crc32(letters);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = (BASE62[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
