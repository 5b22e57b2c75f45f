import { generateKeyPairSync } from 'node:crypto';
import { type Clock, invalidField } from '@plinth/kernel';
import {
  type Hook,
  type HookSecrets,
  isSubscribed,
  SECRET_MASK,
  unmaskHeaders,
  unmaskUrl,
} from '../model/hook.js';
import type { HookStore, NewHook } from '../storage/hook-store.js';
import type { HookChange } from './hook-rules.js';

/** All durable webhooks, in memory by app and by subscription. */
export class HookRegistry {
  readonly #store: HookStore;
  readonly #clock: Clock;
  readonly #byApp = new Map<number, Hook>();
  /** Apps by each entry of their subscriptions. */
  readonly #bySubscription = new Map<string, Set<number>>();
  #version = '';
  #onEnd: (appId: number) => void = () => {};

  constructor(store: HookStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Registers a callback for webhooks that stop receiving deliveries because they were disabled,
   * suspended or deleted.
   */
  whenEnded(onEnd: (appId: number) => void): void {
    this.#onEnd = onEnd;
  }

  async start(): Promise<void> {
    await this.#store.start();
    await this.refresh();
  }

  /** Reloads everything if another node has changed a webhook. */
  async refresh(): Promise<void> {
    const version = await this.#store.readVersion();
    if (version === this.#version) return;
    const hooks = await this.#store.readAll();
    const present = new Set(hooks.map(({ appId }) => appId));
    for (const hook of hooks) this.#put(hook);
    for (const appId of this.#byApp.keys()) if (!present.has(appId)) this.#drop(appId);
    this.#version = version;
  }

  /** Reloads one webhook after its change is durable. */
  async reload(appId: number): Promise<Hook | undefined> {
    const hook = await this.#store.find(appId);
    if (hook === undefined) this.#drop(appId);
    else this.#put(hook);
    return hook;
  }

  get(appId: number): Hook | undefined {
    return this.#byApp.get(appId);
  }

  /** Returns the active webhooks that are subscribed to the event. */
  matching(event: string, action: string | undefined): readonly Hook[] {
    if (isSubscribed([], event, action)) return [...this.#byApp.values()].filter(isReady);
    const names = [
      '*',
      event,
      `${event}.*`,
      ...(action === undefined ? [] : [`${event}.${action}`]),
    ];
    const appIds = new Set<number>();
    for (const name of names) {
      for (const appId of this.#bySubscription.get(name) ?? []) appIds.add(appId);
    }
    return [...appIds].flatMap((appId) => {
      const hook = this.#byApp.get(appId);
      return hook !== undefined && isReady(hook) ? [hook] : [];
    });
  }

  /** Changes a webhook in its own transaction. Returns `undefined` if the app has none. */
  async change(appId: number, change: HookChange): Promise<Hook | undefined> {
    await this.#store.change(appId, (hook) => this.applyTo(hook, change));
    return await this.reload(appId);
  }

  /** Disables an active webhook. The app sees the reason. */
  async disable(appId: number, reason: string): Promise<void> {
    const atMs = this.#clock.nowMs();
    await this.#store.change(appId, (hook) =>
      hook.active
        ? { ...hook, active: false, disabled: { reason, atMs }, updatedMs: atMs }
        : undefined,
    );
    await this.reload(appId);
  }

  async changeSecrets(
    appId: number,
    decide: (secrets: HookSecrets) => HookSecrets,
  ): Promise<Hook | undefined> {
    await this.#store.change(appId, (hook) => ({
      ...hook,
      secrets: decide(hook.secrets),
      updatedMs: this.#clock.nowMs(),
    }));
    return await this.reload(appId);
  }

  /** @param failingSinceMs undefined after a successful attempt. */
  async storeFailingSince(appId: number, failingSinceMs: number | undefined): Promise<void> {
    await this.#store.change(appId, (hook) => ({ ...hook, failingSinceMs }));
    await this.reload(appId);
  }

  /** Builds a webhook with defaults, without storing it. Throws `ValidationFailed` for a change that a new webhook cannot have. */
  newHook(appId: number, change: HookChange): NewHook {
    const nowMs = this.#clock.nowMs();
    const { custom_headers = {}, events = [], retry, secret, url, ...rest } = change;
    return withEd25519({
      appId,
      url: url === undefined ? '' : withCredentials(url, ''),
      content_type: 'json',
      insecure_ssl: false,
      active: true,
      ordering: 'none',
      standard_webhooks: 'off',
      ...rest,
      custom_headers: withSecretValues(custom_headers, {}),
      events,
      retry: retry ?? undefined,
      secrets: { current: secret ?? undefined },
      isSuspended: false,
      failingSinceMs: undefined,
      disabled: undefined,
      createdMs: nowMs,
      updatedMs: nowMs,
    });
  }

  /** Throws `ValidationFailed` for a change that this webhook cannot have. */
  applyTo(hook: Hook, change: HookChange): Hook {
    const { secret, retry, url, custom_headers, ...rest } = change;
    const changed = {
      ...hook,
      ...rest,
      ...(url === undefined ? {} : { url: withCredentials(url, hook.url) }),
      ...(custom_headers === undefined
        ? {}
        : { custom_headers: withSecretValues(custom_headers, hook.custom_headers) }),
      ...(retry === undefined ? {} : { retry: retry ?? undefined }),
      // A secret set this way is valid immediately and replaces all earlier ones.
      ...(secret === undefined
        ? {}
        : { secrets: { ...withoutPrevious(hook.secrets), current: secret ?? undefined } }),
      failingSinceMs: change.active === true ? undefined : hook.failingSinceMs,
      // A change that contains `active` clears the reason why the server disabled the webhook.
      disabled: change.active === undefined ? hook.disabled : undefined,
      updatedMs: this.#clock.nowMs(),
    };
    return { ...withEd25519(changed), id: hook.id };
  }

  #put(hook: Hook): void {
    const old = this.#byApp.get(hook.appId);
    if (old !== undefined) this.#unindex(old);
    this.#byApp.set(hook.appId, hook);
    for (const name of hook.events) {
      let apps = this.#bySubscription.get(name);
      if (apps === undefined) {
        apps = new Set();
        this.#bySubscription.set(name, apps);
      }
      apps.add(hook.appId);
    }
    if (old !== undefined && isReady(old) && !isReady(hook)) this.#onEnd(hook.appId);
  }

  #drop(appId: number): void {
    const old = this.#byApp.get(appId);
    if (old === undefined) return;
    this.#unindex(old);
    this.#byApp.delete(appId);
    this.#onEnd(appId);
  }

  #unindex(hook: Hook): void {
    for (const name of hook.events) {
      const apps = this.#bySubscription.get(name);
      apps?.delete(hook.appId);
      if (apps?.size === 0) this.#bySubscription.delete(name);
    }
  }
}

export const isReady = (hook: Hook): boolean => hook.active && !hook.isSuspended && hook.url !== '';

function withCredentials(sent: string, stored: string): string {
  const url = unmaskUrl(sent, stored);
  if (url !== undefined) return url;
  const what = sent.includes('***:***@') ? 'credentials (***:***)' : 'query values (***)';
  const message = `url contains masked ${what}; send the real values or omit them`;
  throw invalidField({ resource: 'Hook', field: 'url', message });
}

function withSecretValues(
  sent: Hook['custom_headers'],
  stored: Hook['custom_headers'],
): Hook['custom_headers'] {
  const unmasked = unmaskHeaders(sent, stored);
  if ('headers' in unmasked) return unmasked.headers;
  const masked = `${unmasked.unknown}: ${SECRET_MASK}`;
  const message = `custom_headers contains a masked value (${masked}); send the real value or omit the header`;
  throw invalidField({ resource: 'Hook', field: 'custom_headers', message });
}

function withoutPrevious({ previous: _, ...secrets }: HookSecrets): HookSecrets {
  return secrets;
}

/** Adds a private key if a webhook with asymmetric signatures does not have one. */
function withEd25519<H extends NewHook>(hook: H): H {
  if (hook.standard_webhooks !== 'ed25519' || hook.secrets.ed25519 !== undefined) return hook;
  const { privateKey } = generateKeyPairSync('ed25519');
  const ed25519 = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
  return { ...hook, secrets: { ...hook.secrets, ed25519 } };
}
