import { scrypt, timingSafeEqual } from 'node:crypto';
import type { Grantee, Permission, Random } from '@plinth/kernel';

/** An InfluxDB 1.x user: name, password and grants. */
export interface PasswordUser {
  readonly name: string;
  /** `scrypt$N$r$p$salt$hash`, the last two in base64. */
  readonly passwordHash: string;
  /**
   * All privileges on all databases, and permission for statements that change databases and users.
   */
  readonly isAdministrator: boolean;
  readonly permissions: readonly Permission[];
  readonly createdMs: number;
}

/** Each password check costs 32 MiB and about 60 ms of CPU time. */
const COST = { N: 32_768, r: 8, p: 1 };
const SALT_SIZE_BYTES = 16;
const HASH_SIZE_BYTES = 32;

export const MAX_PASSWORD_LENGTH = 1024;

export async function hashPassword(password: string, random: Random): Promise<string> {
  const salt = Buffer.from(random.bytes(SALT_SIZE_BYTES));
  const { N, r, p } = COST;
  const hash = await derive(password, salt, COST);
  return ['scrypt', N, r, p, salt.toString('base64'), hash.toString('base64')].join('$');
}

export async function isPasswordOf(passwordHash: string, password: string): Promise<boolean> {
  const [scheme, N, r, p, salt = '', hash = ''] = passwordHash.split('$');
  if (scheme !== 'scrypt') return false;
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const expected = Buffer.from(hash, 'base64');
  const derived = await derive(password, Buffer.from(salt, 'base64'), cost);
  return derived.byteLength === expected.byteLength && timingSafeEqual(derived, expected);
}

async function derive(password: string, salt: Buffer, { N, r, p }: typeof COST): Promise<Buffer> {
  const maxmem = 2 * 128 * N * r;
  return await new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_SIZE_BYTES, { N, r, p, maxmem }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

const PRINCIPALS = new WeakMap<PasswordUser, Grantee>();
const USERS = new WeakMap<Grantee, PasswordUser>();

/** Returns the principal of a user: the same object each time. */
export function granteeOf(user: PasswordUser): Grantee {
  let grantee = PRINCIPALS.get(user);
  if (grantee === undefined) {
    const { name, permissions, isAdministrator, createdMs } = user;
    const id = `users/${name}`;
    const owner = `${id}/${createdMs}`;
    grantee = { kind: 'grantee', id, owner, name, permissions, isAdministrator };
    PRINCIPALS.set(user, grantee);
    USERS.set(grantee, user);
  }
  return grantee;
}

/** Returns the user behind a principal, as it was when `granteeOf` returned the principal. */
export const userOf = (grantee: Grantee): PasswordUser | undefined => USERS.get(grantee);
