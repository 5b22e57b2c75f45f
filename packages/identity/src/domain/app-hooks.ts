import type { Transaction } from 'kysely';
import type { App } from '../model/app.js';

/**
 * Per-app data of another service, returned as the `hook` member. It joins the registry's
 * transactions, so an app and its webhook change atomically.
 */
export interface AppHooks {
  /**
   * Validates the `webhook` member of a request (`undefined` when absent) before anything is
   * written. The result is passed unchanged to `create` or `update`. Throws `ValidationFailed`.
   */
  check(webhook: unknown): unknown;
  create(tx: Transaction<unknown>, app: App, checked: unknown): Promise<void>;
  update(tx: Transaction<unknown>, app: App, checked: unknown): Promise<void>;
  suspend(tx: Transaction<unknown>, appId: number, isSuspended: boolean): Promise<void>;
  remove(tx: Transaction<unknown>, appId: number): Promise<void>;
  /** Returns the `hook` members by app id. */
  describe(appIds: readonly number[]): Promise<ReadonlyMap<number, object>>;
  /** Called after a change to this app is durable; the response is sent when this resolves. */
  noteCommitted(appId: number, what: 'created' | 'changed' | 'deleted'): Promise<void>;
}
