import { createPrivateKey, createPublicKey } from 'node:crypto';
import { maskUrlAndQuery, type SqlConnection } from '@plinth/kernel';
import { type Hook, type RetryPolicy, SECRET_MASK } from '../model/hook.js';
import type { HookStore } from '../storage/hook-store.js';
import { retryDelaysSec } from './delivery/retry.js';
import type { DeliveryFiguresView } from './delivery-figures.js';
import type { HookRegistry } from './hook-registry.js';
import type { HookChange, HookRules } from './hook-rules.js';
import { describeConfig, describeDisabled } from './ping.js';

/**
 * Creates, changes and removes the webhook of an app in the transactions of the app registry.
 * Responses with an app contain it as the member `hook`.
 */
export class AppWebhooks {
  readonly #hooks: HookRegistry;
  readonly #store: HookStore;
  readonly #rules: HookRules;
  readonly #figures: DeliveryFiguresView;
  readonly #defaultRetry: RetryPolicy;
  readonly #onCommitted: (appId: number, what: 'created' | 'changed' | 'deleted') => void;

  constructor(deps: {
    readonly hooks: HookRegistry;
    readonly store: HookStore;
    readonly rules: HookRules;
    readonly figures: DeliveryFiguresView;
    /** Retry policy of webhooks that do not have their own. */
    readonly defaultRetry: RetryPolicy;
    readonly onCommitted: (appId: number, what: 'created' | 'changed' | 'deleted') => void;
  }) {
    this.#hooks = deps.hooks;
    this.#store = deps.store;
    this.#rules = deps.rules;
    this.#figures = deps.figures;
    this.#defaultRetry = deps.defaultRetry;
    this.#onCommitted = deps.onCommitted;
  }

  /** Throws `ValidationFailed` for an invalid webhook. */
  check(webhook: unknown): HookChange {
    const fields = typeof webhook === 'object' && webhook !== null ? webhook : {};
    return this.#rules.checkAll(fields as Readonly<Record<string, unknown>>);
  }

  async create(tx: SqlConnection, app: { readonly id: number }, checked: unknown): Promise<void> {
    // The registry returns the result of `check` unchanged, so the cast holds.
    await this.#store.insert(tx, this.#hooks.newHook(app.id, checked as HookChange));
  }

  async update(tx: SqlConnection, app: { readonly id: number }, checked: unknown): Promise<void> {
    const hook = await this.#store.find(app.id, tx);
    if (hook === undefined) return await this.create(tx, app, checked);
    const changed = this.#hooks.applyTo(hook, checked as HookChange); // the result of `check`, as in `create`
    await this.#store.update(tx, changed);
  }

  /** Suspends or resumes the webhook. Queued events stay in the queue until the app is resumed. */
  async suspend(tx: SqlConnection, appId: number, isSuspended: boolean): Promise<void> {
    const hook = await this.#store.find(appId, tx);
    if (hook !== undefined) await this.#store.update(tx, { ...hook, isSuspended });
  }

  async remove(tx: SqlConnection, appId: number): Promise<void> {
    await this.#store.remove(tx, appId);
  }

  async describe(appIds: readonly number[]): Promise<ReadonlyMap<number, object>> {
    const described = new Map<number, object>();
    const known = appIds.filter((appId) => this.#hooks.get(appId) !== undefined);
    const histories = await this.#figures.histories(known);
    const lastHours = await this.#figures.lastHours(known);
    for (const appId of known) {
      const hook = this.#hooks.get(appId);
      if (hook === undefined) continue; // deleted meanwhile
      described.set(appId, {
        ...describeHook(hook),
        // Delay in seconds before each retry, for clients that show the effect of a policy.
        retry_delays: {
          default: retryDelaysSec(this.#defaultRetry),
          standard: retryDelaysSec({ policy: 'standard' }),
        },
        last_hour: lastHours.get(appId),
        history: histories.get(appId),
      });
    }
    return described;
  }

  /** Resolves when this node has loaded the change. */
  async noteCommitted(appId: number, what: 'created' | 'changed' | 'deleted'): Promise<void> {
    await this.#hooks.reload(appId);
    this.#onCommitted(appId, what);
  }
}

/** Returns the webhook as operators see it. */
function describeHook(hook: Hook): object {
  const { ed25519 } = hook.secrets;
  return {
    id: hook.id,
    active: hook.active,
    ...describeDisabled(hook),
    events: hook.events,
    config: describeConfig(hook, maskUrlAndQuery),
    custom_headers: Object.fromEntries(
      Object.keys(hook.custom_headers).map((name) => [name, SECRET_MASK]),
    ),
    retry: hook.retry ?? null,
    ordering: hook.ordering,
    standard_webhooks: hook.standard_webhooks,
    ...(hook.standard_webhooks === 'ed25519' &&
      ed25519 !== undefined && { standard_webhooks_public_key: publicKeyOf(ed25519) }),
  };
}

/** Returns the public key in the format of Standard Webhooks: `whpk_` and the raw key in base64. */
function publicKeyOf(privateKey: string): string {
  const key = createPrivateKey({
    key: Buffer.from(privateKey, 'base64'),
    format: 'der',
    type: 'pkcs8',
  });
  const raw = createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-32);
  return `whpk_${raw.toString('base64')}`;
}
