import type { KeyObject } from 'node:crypto';
import {
  type Clock,
  type FieldError,
  invalidField,
  type Random,
  randomLetters,
  ValidationFailed,
} from '@plinth/kernel';
import { identityError } from '../errors.js';
import {
  type App,
  type AppKey,
  type AppOwner,
  type AppSelector,
  fingerprintOf,
  MAX_KEY_COUNT,
  readPublicKey,
  slugOf,
} from '../model/app.js';
import {
  type AppRowChange,
  type AppStore,
  type AppTransaction,
  deleteApp,
  deleteKey,
  findApp,
  findTaken,
  insertApp,
  insertKey,
  updateApp,
} from '../storage/app-store.js';
import type { AppDirectory } from './app-directory.js';
import type { AppHooks } from './app-hooks.js';
import { KeyMaker, type PrivateKeyFormat } from './key-maker.js';

export interface NewAppRequest {
  readonly name: string;
  readonly slug: string | undefined;
  readonly owner: AppOwner | undefined;
  readonly webhook: unknown;
  /** PEM. If absent, a key pair is generated. */
  readonly publicKey: string | undefined;
  readonly privateFormat: PrivateKeyFormat;
}

export interface AppChangeRequest {
  readonly name: string | undefined;
  readonly slug: string | undefined;
  readonly owner: AppOwner | null | undefined;
  readonly webhook: unknown;
}

/** A newly created key. The private key is returned only here and is not stored. */
export interface IssuedKey {
  readonly key: AppKey;
  readonly pem: string | undefined;
}

const CLIENT_ID_PREFIX = 'Iv23';

/** Registry of applications. Every change is one transaction that includes the app's webhook. */
export class Apps {
  readonly #store: AppStore;
  readonly #directory: AppDirectory;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #hooks: () => AppHooks | undefined;
  readonly #keys = new KeyMaker();

  constructor(deps: {
    readonly store: AppStore;
    readonly directory: AppDirectory;
    readonly clock: Clock;
    readonly random: Random;
    /** Resolved at every call, because the service with the hooks is created later. */
    readonly hooks: () => AppHooks | undefined;
  }) {
    this.#store = deps.store;
    this.#directory = deps.directory;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#hooks = deps.hooks;
  }

  /** Throws `app_not_found`. */
  async get(selector: AppSelector): Promise<App> {
    const app = await this.#store.find(selector);
    if (app === undefined) throw identityError('app_not_found');
    return app;
  }

  async list(afterId: number, limit: number): Promise<readonly App[]> {
    return await this.#store.list(afterId, limit);
  }

  async describeHooks(apps: readonly App[]): Promise<ReadonlyMap<number, object>> {
    return (await this.#hooks()?.describe(apps.map(({ id }) => id))) ?? new Map();
  }

  /** Throws `ValidationFailed` and `keys_overloaded`. */
  async create(request: NewAppRequest): Promise<{ readonly app: App; readonly issued: IssuedKey }> {
    const checkedHook = this.#hooks()?.check(request.webhook);
    const { name, owner } = request;
    const slug = request.slug ?? slugOf(name);
    const made = await this.#takeOrMakeKey(request.publicKey, request.privateFormat, async () =>
      refuseTaken(await this.#store.findTaken({ name, slug }), { name, slug }),
    );
    const createdMs = this.#clock.nowMs();
    const outcome = await this.#store.transaction(async (tx) => {
      refuseTaken(await findTaken(tx, { name, slug }), { name, slug });
      const appId = await insertApp(tx, {
        client_id: CLIENT_ID_PREFIX + randomLetters(this.#random, 16),
        slug,
        name,
        owner,
        createdMs,
      });
      const key = await insertKey(tx, appId, { ...made.key, createdMs });
      const app = await readApp(tx, { id: appId });
      await this.#hooks()?.create(asUnknown(tx), app, checkedHook);
      return { app, issued: { key, pem: made.pem } };
    });
    await this.#afterCommit(outcome.app.id, 'created');
    return outcome;
  }

  /** Throws `ValidationFailed` and `app_not_found`. */
  async update(selector: AppSelector, request: AppChangeRequest): Promise<App> {
    const { name, slug, owner, webhook } = request;
    const checkedHook = webhook === undefined ? undefined : this.#hooks()?.check(webhook);
    return await this.#change(selector, async (tx, app) => {
      const names = { name: name ?? app.name, slug: slug ?? app.slug };
      const others = (await findTaken(tx, names)).filter(({ id }) => id !== app.id);
      refuseTaken(others, names);
      await this.#updateRow(tx, app, {
        ...names,
        ...(owner === undefined ? {} : { owner }),
      });
      if (webhook !== undefined) await this.#hooks()?.update(asUnknown(tx), app, checkedHook);
    });
  }

  async setSuspended(selector: AppSelector, isSuspended: boolean): Promise<App> {
    return await this.#change(selector, async (tx, app) => {
      if ((app.suspendedMs !== undefined) === isSuspended) return;
      await this.#updateRow(tx, app, { suspendedMs: isSuspended ? this.#clock.nowMs() : null });
      await this.#hooks()?.suspend(asUnknown(tx), app.id, isSuspended);
    });
  }

  async delete(selector: AppSelector): Promise<void> {
    const appId = await this.#store.transaction(async (tx) => {
      const { id } = await readApp(tx, selector);
      await this.#hooks()?.remove(asUnknown(tx), id);
      await deleteApp(tx, id);
      return id;
    });
    await this.#afterCommit(appId, 'deleted');
  }

  /** Throws `ValidationFailed`, `app_not_found` and `keys_overloaded`. */
  async addKey(
    selector: AppSelector,
    publicKey: string | undefined,
    format: PrivateKeyFormat,
  ): Promise<IssuedKey> {
    const made = await this.#takeOrMakeKey(publicKey, format, async () =>
      refuseFull(await this.get(selector)),
    );
    let key: AppKey | undefined;
    await this.#change(selector, async (tx, app) => {
      refuseFull(app);
      if (app.keys.some(({ fingerprint }) => fingerprint === made.key.fingerprint)) {
        throw new ValidationFailed([
          { resource: 'Key', field: 'public_key', code: 'already_exists' },
        ]);
      }
      key = await insertKey(tx, app.id, { ...made.key, createdMs: this.#clock.nowMs() });
      await this.#updateRow(tx, app, {});
    });
    if (key === undefined) throw identityError('app_not_found');
    return { key, pem: made.pem };
  }

  /** Throws `ValidationFailed` for the app's last key, and `app_not_found` for an unknown app or key. */
  async removeKey(selector: AppSelector, keyId: number): Promise<void> {
    await this.#change(selector, async (tx, app) => {
      if (!app.keys.some(({ id }) => id === keyId)) throw identityError('app_not_found');
      if (app.keys.length === 1)
        throw keyRefused('the last key of an app cannot be removed; add another key first');
      await deleteKey(tx, keyId);
      await this.#updateRow(tx, app, {});
    });
  }

  async #change(
    selector: AppSelector,
    work: (tx: AppTransaction, app: App) => Promise<void>,
  ): Promise<App> {
    const changed = await this.#store.transaction(async (tx) => {
      const app = await readApp(tx, selector);
      await work(tx, app);
      return await readApp(tx, { id: app.id });
    });
    await this.#afterCommit(changed.id, 'changed');
    return changed;
  }

  async #updateRow(tx: AppTransaction, app: App, change: AppRowChange): Promise<void> {
    await updateApp(tx, app.id, { ...change, updatedMs: this.#clock.nowMs() });
  }

  async #afterCommit(appId: number, what: 'created' | 'changed' | 'deleted'): Promise<void> {
    this.#directory.forget(appId);
    await this.#hooks()?.noteCommitted(appId, what);
  }

  /** @param check rejects if the key would be refused; called first, because generating a key is expensive. */
  async #takeOrMakeKey(
    publicKey: string | undefined,
    format: PrivateKeyFormat,
    check: () => Promise<void>,
  ): Promise<{
    readonly key: Omit<AppKey, 'id' | 'createdMs'>;
    readonly pem: string | undefined;
  }> {
    if (publicKey !== undefined) {
      const key = readPublicKey(publicKey);
      if (key === undefined)
        throw keyRefused('invalid public key; use an RSA key of at least 2048 bits in PEM format');
      return { key: describeKey(key), pem: undefined };
    }
    const made = await this.#keys.make(format, check);
    return { key: describeKey(made.publicKey), pem: made.pem };
  }
}

const describeKey = (key: KeyObject) => ({
  fingerprint: fingerprintOf(key),
  publicKey: key.export({ type: 'spki', format: 'pem' }).toString(),
});

async function readApp(tx: AppTransaction, selector: AppSelector): Promise<App> {
  const app = await findApp(tx, selector);
  if (app === undefined) throw identityError('app_not_found');
  return app;
}

function refuseTaken(
  taken: readonly { readonly name: string; readonly slug: string }[],
  names: { readonly name: string; readonly slug: string },
): void {
  const errors = (['name', 'slug'] as const).flatMap((field): FieldError[] =>
    taken.some((other) => other[field] === names[field])
      ? [{ resource: 'App', field, code: 'already_exists', value: names[field] }]
      : [],
  );
  if (errors.length > 0) throw new ValidationFailed(errors);
}

function refuseFull({ keys }: App): void {
  if (keys.length >= MAX_KEY_COUNT)
    throw keyRefused(`the app already has the maximum of ${MAX_KEY_COUNT} keys; remove one first`);
}

const keyRefused = (message: string): ValidationFailed =>
  invalidField({ resource: 'Key', field: 'public_key', message });

/** `AppHooks` declares its own table map. */
const asUnknown = (tx: AppTransaction) => tx as unknown as Parameters<AppHooks['create']>[0];
