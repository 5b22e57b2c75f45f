import { createHash, createHmac } from 'node:crypto';
import {
  type Clock,
  type CountTogether,
  CredentialUncheckable,
  GuessGuard,
  Memo,
  type Random,
} from '@plinth/kernel';
import { identityError } from '../errors.js';
import {
  hashPassword,
  isPasswordOf,
  MAX_PASSWORD_LENGTH,
  type PasswordUser,
} from '../model/password-user.js';
import { FairQueue } from './fair-queue.js';

const MAX_REMEMBERED_COUNT = 10_000;
const REMEMBERED_MS = 300_000;
/** Each check takes about 60 ms. */
const MAX_WAITING = 64;
/** Maximum number of waiting checks per address, so that one attacker cannot fill the queue. */
const MAX_WAITING_PER_ADDRESS = 8;
const KEY_SIZE_BYTES = 32;
/**
 * Limits wrong passwords for one user from one address. A cached correct password is not checked
 * again.
 */
const GUESS_LIMIT = { lockingCount: 20, windowMs: 600_000 };

export interface Login {
  readonly user: string;
  readonly password: string;
}

interface Remembered {
  readonly passwordHash: string;
  readonly untilMs: number;
}

/**
 * Checks passwords against their slow hashes, one at a time, round-robin by address. Each check
 * takes a thread and 32 MiB. A correct password is cached for five minutes, only in this process
 * and only while the user still has it.
 */
export class PasswordChecks {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #key: Buffer;
  readonly #correct = new Memo<string, Remembered>({ maxCount: MAX_REMEMBERED_COUNT });
  readonly #line = new FairQueue({
    maxCount: MAX_WAITING,
    maxCountPerKey: MAX_WAITING_PER_ADDRESS,
    refusal: () => new CredentialUncheckable(new Error('too many passwords are being checked')),
  });
  /** Checks in progress, by login and expected hash. */
  readonly #checksInProgress = new Map<string, Promise<boolean>>();
  readonly #guesses: GuessGuard;
  #dummyHash: Promise<string> | undefined;

  constructor(deps: {
    readonly clock: Clock;
    readonly random: Random;
    readonly countTogether?: CountTogether | undefined;
  }) {
    const { clock, random } = deps;
    this.#clock = clock;
    this.#random = random;
    this.#guesses = new GuessGuard(clock, GUESS_LIMIT, deps.countTogether);
    this.#key = Buffer.from(random.bytes(KEY_SIZE_BYTES));
  }

  /** Whether the login is cached as correct. */
  isKnown(login: Login, user: PasswordUser): boolean {
    const known = this.#correct.get(this.#keyOf(login));
    return known?.passwordHash === user.passwordHash && known.untilMs > this.#clock.monotonicMs();
  }

  /**
   * Throws `CredentialUncheckable` when the queue is full, and `logins_locked` after too many wrong
   * passwords.
   * @param address key of the client address
   * @param user `undefined` for an unknown user; the check then takes as long as for a wrong
   * password.
   */
  async isRight(login: Login, user: PasswordUser | undefined, address: string): Promise<boolean> {
    if (login.password.length > MAX_PASSWORD_LENGTH) return false;
    // Many simultaneous requests of one client share one check.
    const attempt = JSON.stringify([this.#keyOf(login), user?.passwordHash, address]);
    let check = this.#checksInProgress.get(attempt);
    if (check === undefined) {
      check = this.#check(login, user, address).finally(() =>
        this.#checksInProgress.delete(attempt),
      );
      this.#checksInProgress.set(attempt, check);
    }
    return await check;
  }

  async #check(login: Login, user: PasswordUser | undefined, address: string): Promise<boolean> {
    const guesser = guesserOf(address, login.user);
    const lockedMs = this.#guesses.lockedForMs(guesser);
    if (lockedMs > 0) throw identityError('logins_locked', { seconds: Math.ceil(lockedMs / 1000) });
    const isRight = await this.#line.run(address, async () => {
      this.#dummyHash ??= hashPassword('', this.#random);
      return await isPasswordOf(user?.passwordHash ?? (await this.#dummyHash), login.password);
    });
    if (!isRight) this.#guesses.noteFailure(guesser);
    if (!isRight || user === undefined) return false;
    this.#correct.set(this.#keyOf(login), {
      passwordHash: user.passwordHash,
      untilMs: this.#clock.monotonicMs() + REMEMBERED_MS,
    });
    return true;
  }

  async hash(password: string): Promise<string> {
    return await this.#line.run('', () => hashPassword(password, this.#random));
  }

  #keyOf({ user, password }: Login): string {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([user, password]))
      .digest('base64');
  }
}

/** Hashed, so that the key has a fixed length and is the same on all nodes. */
const guesserOf = (address: string, user: string): string =>
  createHash('sha256')
    .update(JSON.stringify([address, user]))
    .digest('base64url');
