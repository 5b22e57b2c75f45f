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
/** At some 60 ms each. */
const MAX_WAITING = 64;
/** Whoever guesses from some addresses leaves places and turns to the others. */
const MAX_WAITING_PER_ADDRESS = 8;
const KEY_SIZE_BYTES = 32;
/** Wrong passwords of one user from one address; a right one that is remembered is not asked about. */
const GUESSES = { lockingCount: 20, windowMs: 600_000 };

export interface Login {
  readonly user: string;
  readonly password: string;
}

interface Remembered {
  readonly passwordHash: string;
  readonly untilMs: number;
}

/**
 * Compares passwords with their slow hashes, one at a time, of each address in turn: each takes a thread and 32 MiB. A password that was right is
 * remembered for five minutes, under a key of this process, and for as long as the user has it.
 */
export class PasswordChecks {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #key: Buffer;
  readonly #right = new Memo<string, Remembered>({ maxCount: MAX_REMEMBERED_COUNT });
  readonly #line = new FairQueue({
    maxCount: MAX_WAITING,
    maxCountPerKey: MAX_WAITING_PER_ADDRESS,
    refusal: () => new CredentialUncheckable(new Error('too many passwords are being checked')),
  });
  /** By login and what it is compared with. */
  readonly #looking = new Map<string, Promise<boolean>>();
  readonly #guesses: GuessGuard;
  #nobody: Promise<string> | undefined;

  constructor(needs: {
    readonly clock: Clock;
    readonly random: Random;
    readonly countTogether?: CountTogether | undefined;
  }) {
    const { clock, random } = needs;
    this.#clock = clock;
    this.#random = random;
    this.#guesses = new GuessGuard(clock, GUESSES, needs.countTogether);
    this.#key = Buffer.from(random.bytes(KEY_SIZE_BYTES));
  }

  /** Whether the login was found to be right lately. */
  isKnown(login: Login, user: PasswordUser): boolean {
    const known = this.#right.get(this.#keyOf(login));
    return known?.passwordHash === user.passwordHash && known.untilMs > this.#clock.monotonicMs();
  }

  /**
   * Throws `CredentialUncheckable` when too many wait already, and `logins_locked` after too many wrong ones.
   * @param address key of the address that asks
   * @param user `undefined`: there is none, which takes as long to find out as a wrong password.
   */
  async isRight(login: Login, user: PasswordUser | undefined, address: string): Promise<boolean> {
    if (login.password.length > MAX_PASSWORD_LENGTH) return false;
    // A client that begins with many requests at a time is looked at once.
    const attempt = JSON.stringify([this.#keyOf(login), user?.passwordHash, address]);
    let looking = this.#looking.get(attempt);
    if (looking === undefined) {
      looking = this.#look(login, user, address).finally(() => this.#looking.delete(attempt));
      this.#looking.set(attempt, looking);
    }
    return await looking;
  }

  async #look(login: Login, user: PasswordUser | undefined, address: string): Promise<boolean> {
    const guesser = guesserOf(address, login.user);
    const lockedMs = this.#guesses.lockedForMs(guesser);
    if (lockedMs > 0) throw identityError('logins_locked', { seconds: Math.ceil(lockedMs / 1000) });
    const isRight = await this.#line.run(address, async () => {
      this.#nobody ??= hashPassword('', this.#random);
      return await isPasswordOf(user?.passwordHash ?? (await this.#nobody), login.password);
    });
    if (!isRight) this.#guesses.noteFailure(guesser);
    if (!isRight || user === undefined) return false;
    this.#right.set(this.#keyOf(login), {
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

/** As short for the longest name, and the same on all nodes. */
const guesserOf = (address: string, user: string): string =>
  createHash('sha256')
    .update(JSON.stringify([address, user]))
    .digest('base64url');
