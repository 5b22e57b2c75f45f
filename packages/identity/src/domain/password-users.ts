import type {
  Action,
  Clock,
  CountTogether,
  Grantee,
  Permission,
  Principal,
  Random,
} from '@plinth/kernel';
import { Exclusive, isSafeName, permits, requestError } from '@plinth/kernel';
import { identityError } from '../errors.js';
import {
  granteeOf,
  MAX_PASSWORD_LENGTH,
  type PasswordUser,
  userOf,
} from '../model/password-user.js';
import type { PasswordUserStore } from '../storage/password-user-store.js';
import { type Login, PasswordChecks } from './password-checks.js';
import { SharedReading } from './shared-reading.js';

const MAX_USER_COUNT = 10_000;
const MAX_NAME_LENGTH = 255;

/** Actions on one database. */
export interface DatabaseGrant {
  readonly database: string;
  readonly actions: readonly Action[];
}

/**
 * InfluxDB 1.x users with passwords; their grants are the same permissions that tokens have. Kept in
 * memory by name and durably in the store; changes are serialized. Source: the 1.x server,
 * "Authentication and authorization".
 */
export class PasswordUsers {
  readonly #store: PasswordUserStore;
  readonly #clock: Clock;
  readonly #checks: PasswordChecks;
  readonly #changes = new Exclusive();
  readonly #reading: SharedReading;
  #byName = new Map<string, PasswordUser>();

  constructor(deps: {
    readonly store: PasswordUserStore;
    readonly clock: Clock;
    readonly random: Random;
    readonly maxAgeSec: number;
    /** Counts wrong passwords across all nodes. */
    readonly countTogether?: CountTogether | undefined;
  }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#checks = new PasswordChecks(deps);
    this.#reading = new SharedReading(deps.clock, deps.maxAgeSec);
  }

  /** Reloads users that another node may have changed. */
  async refresh(): Promise<void> {
    await this.#changes.run(async () => {
      const startMs = this.#clock.monotonicMs();
      const users = await this.#store.readAll();
      this.#reading.note(startMs);
      this.#byName = new Map(users.map((user) => [user.name, user]));
    });
  }

  /**
   * Whether a user still exists with the same password and all permissions that `identify` returned.
   * A later user with the same name does not count, because the stored password has another salt.
   */
  isCurrent(grantee: Grantee): boolean {
    const user = this.#byName.get(grantee.name);
    const earlier = userOf(grantee);
    if (user === undefined || earlier === undefined) return false;
    return user.passwordHash === earlier.passwordHash && hasPermissionsOf(user, earlier);
  }

  /** Ordered by name. */
  list(): readonly PasswordUser[] {
    return [...this.#byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Throws `user_not_found`. */
  need(name: string): PasswordUser {
    const user = this.#byName.get(name);
    if (user === undefined) throw identityError('user_not_found');
    return user;
  }

  /**
   * Resolves a login to its principal; synchronously if the login is cached. Throws
   * `not_authenticated`, `logins_locked` and `CredentialUncheckable`.
   * @param address key of the client address
   */
  identify(login: Login, address: string): Principal | Promise<Principal> {
    // Without users, requests must not cause hashing.
    if (this.#byName.size === 0) throw requestError('not_authenticated');
    this.#reading.requireRecent();
    const user = this.#byName.get(login.user);
    if (user !== undefined && this.#checks.isKnown(login, user)) return granteeOf(user);
    return this.#verified(login, user, address);
  }

  async #verified(
    login: Login,
    user: PasswordUser | undefined,
    address: string,
  ): Promise<Principal> {
    const isRight = await this.#checks.isRight(login, user, address);
    // The user may have been changed or dropped during the check.
    const current = this.#byName.get(login.user);
    if (!isRight || current === undefined || current.passwordHash !== user?.passwordHash) {
      throw requestError('not_authenticated');
    }
    return granteeOf(current);
  }

  /**
   * Leaves an identical user unchanged. Throws `user_exists`, `user_invalid`, `user_limit_reached`.
   */
  async create(login: Login & { readonly isAdministrator: boolean }): Promise<void> {
    const { user: name, password, isAdministrator } = login;
    const isSound = name !== '' && name.length <= MAX_NAME_LENGTH && isSafeName(name);
    if (!isSound)
      throw identityError(
        'user_invalid',
        `invalid username; use 1 to ${MAX_NAME_LENGTH} printable characters`,
      );
    checkPassword(password);
    const passwordHash = await this.#checks.hash(password);
    await this.#changes.run(async () => {
      const known = this.#byName.get(name);
      if (known !== undefined) {
        const isSame =
          known.isAdministrator === isAdministrator &&
          (await this.#checks.isRight(login, known, ''));
        if (isSame) return;
        throw identityError('user_exists');
      }
      if (this.#byName.size >= MAX_USER_COUNT) {
        throw identityError('user_limit_reached', { limit: MAX_USER_COUNT });
      }
      const createdMs = this.#clock.nowMs();
      const user = { name, passwordHash, isAdministrator, permissions: [], createdMs };
      if (!(await this.#store.insert(user))) throw identityError('user_exists');
      this.#byName.set(name, user);
    });
  }

  /** Throws `user_not_found`. */
  async drop(name: string): Promise<void> {
    await this.#changes.run(async () => {
      await this.#store.delete(this.need(name));
      this.#byName.delete(name);
    });
  }

  /** Throws `user_not_found`, `user_invalid`. */
  async setPassword(name: string, password: string): Promise<void> {
    checkPassword(password);
    this.need(name);
    const passwordHash = await this.#checks.hash(password);
    await this.#change(name, (user) => ({ ...user, passwordHash }));
  }

  /** Throws `user_not_found`. */
  async setAdministrator(name: string, isAdministrator: boolean): Promise<void> {
    await this.#change(name, (user) => ({ ...user, isAdministrator }));
  }

  /** Replaces the earlier grant on the database, as in version 1. Throws `user_not_found`. */
  async grant(name: string, database: string, actions: readonly Action[]): Promise<void> {
    await this.#change(name, (user) => granted(user, database, actions));
  }

  /** Throws `user_not_found`. */
  async revoke(name: string, database: string, actions: readonly Action[]): Promise<void> {
    await this.#change(name, (user) => {
      const left = actionsOn(user.permissions, database).filter((each) => !actions.includes(each));
      return granted(user, database, left);
    });
  }

  /** Grants by database. Throws `user_not_found`. */
  grantsOf(name: string): readonly DatabaseGrant[] {
    return this.need(name)
      .permissions.flatMap(({ names, actions }) => names.map((database) => ({ database, actions })))
      .sort((a, b) => (a.database < b.database ? -1 : 1));
  }

  async #change(name: string, change: (user: PasswordUser) => PasswordUser): Promise<void> {
    await this.#changes.run(async () => {
      const changed = change(this.need(name));
      await this.#store.update(changed);
      this.#byName.set(name, changed);
    });
  }
}

const hasPermissionsOf = (user: PasswordUser, earlier: PasswordUser): boolean =>
  user.isAdministrator ||
  (!earlier.isAdministrator &&
    earlier.permissions.every(({ resource, names, actions }) =>
      names.every((name) =>
        actions.every((action) => permits(user.permissions, { resource, name, action })),
      ),
    ));

const granted = (
  user: PasswordUser,
  database: string,
  actions: readonly Action[],
): PasswordUser => ({
  ...user,
  permissions: [
    ...user.permissions.filter(({ names }) => !names.includes(database)),
    ...(actions.length > 0 ? [{ resource: 'db', names: [database], actions }] : []),
  ],
});

const actionsOn = (permissions: readonly Permission[], name: string): readonly Action[] =>
  (['read', 'write'] as const).filter((action) =>
    permits(permissions, { resource: 'db', name, action }),
  );

function checkPassword(password: string): void {
  if (password !== '' && password.length <= MAX_PASSWORD_LENGTH) return;
  throw identityError(
    'user_invalid',
    `invalid password; use 1 to ${MAX_PASSWORD_LENGTH} characters`,
  );
}
