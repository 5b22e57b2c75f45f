import type { Transaction } from 'kysely';
import type { App } from '../model/app.js';

/**
 * What another service keeps for each app and shows as its member `hook`. It takes part in the registry's own
 * transactions, so that an app and its webhook are made, changed and removed together or not at all.
 */
export interface AppHooks {
  /**
   * Checks the member `webhook` of a request (`undefined` when it is absent) before anything is written. What it
   * returns is handed to `create` or `update` as it is. Throws `ValidationFailed`.
   */
  check(webhook: unknown): unknown;
  create(tx: Transaction<unknown>, app: App, checked: unknown): Promise<void>;
  update(tx: Transaction<unknown>, app: App, checked: unknown): Promise<void>;
  suspend(tx: Transaction<unknown>, appId: number, isSuspended: boolean): Promise<void>;
  remove(tx: Transaction<unknown>, appId: number): Promise<void>;
  /** The members `hook`, by app id. */
  describe(appIds: readonly number[]): Promise<ReadonlyMap<number, object>>;
  /** A change of this app is durable; it is answered when this resolves. */
  settled(appId: number, what: 'created' | 'changed' | 'deleted'): Promise<void>;
}
