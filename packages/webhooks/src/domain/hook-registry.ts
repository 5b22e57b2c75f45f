import { generateKeyPairSync } from 'node:crypto';
import { type Clock, ValidationFailed } from '@plinth/kernel';
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

/** All webhooks, in memory by app, and which of them want an event. What is here is durable. */
export class HookRegistry {
  readonly #store: HookStore;
  readonly #clock: Clock;
  readonly #byApp = new Map<number, Hook>();
  /** Apps by each word of their subscriptions. */
  readonly #bySubscription = new Map<string, Set<number>>();
  #mark = '';
  #onEnd: (appId: number) => void = () => {};

  constructor(store: HookStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Calls back when a webhook stops taking deliveries: switched off, suspended or removed. */
  whenEnded(onEnd: (appId: number) => void): void {
    this.#onEnd = onEnd;
  }

  async start(): Promise<void> {
    await this.#store.start();
    await this.refresh();
  }

  /** Reads everything again if another node has changed something. */
  async refresh(): Promise<void> {
    const mark = await this.#store.changeMark();
    if (mark === this.#mark) return;
    const hooks = await this.#store.readAll();
    const present = new Set(hooks.map(({ appId }) => appId));
    for (const hook of hooks) this.#put(hook);
    for (const appId of this.#byApp.keys()) if (!present.has(appId)) this.#drop(appId);
    this.#mark = mark;
  }

  /** Reads one hook again after its change is durable. */
  async reload(appId: number): Promise<Hook | undefined> {
    const hook = await this.#store.find(appId);
    if (hook === undefined) this.#drop(appId);
    else this.#put(hook);
    return hook;
  }

  get(appId: number): Hook | undefined {
    return this.#byApp.get(appId);
  }

  /** Webhooks that are switched on and subscribed to the event. */
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

  /** Changes a hook in a transaction of its own; `undefined` when there is none. */
  async change(appId: number, change: HookChange): Promise<Hook | undefined> {
    await this.#store.change(appId, (hook) => this.applyTo(hook, change));
    return await this.reload(appId);
  }

  /** Switches a hook off that is on, for a reason that its app is told. */
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

  /** @param failingSinceMs undefined: an attempt has succeeded. */
  async noteFailing(appId: number, failingSinceMs: number | undefined): Promise<void> {
    await this.#store.change(appId, (hook) => ({ ...hook, failingSinceMs }));
    await this.reload(appId);
  }

  /** Throws `ValidationFailed`. */
  fresh(appId: number, change: HookChange): NewHook {
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

  /** Throws `ValidationFailed`. */
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
      // A secret that is set this way is valid at once and alone.
      ...(secret === undefined
        ? {}
        : { secrets: { ...withoutPrevious(hook.secrets), current: secret ?? undefined } }),
      failingSinceMs: change.active === true ? undefined : hook.failingSinceMs,
      // Whoever says whether it is on answers for it.
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
  throw refusal('url', `url has masked ${what}: give them, or leave them out`);
}

function withSecretValues(
  sent: Hook['custom_headers'],
  stored: Hook['custom_headers'],
): Hook['custom_headers'] {
  const unmasked = unmaskHeaders(sent, stored);
  if ('headers' in unmasked) return unmasked.headers;
  const masked = `${unmasked.unknown}: ${SECRET_MASK}`;
  const message = `custom_headers has a masked value (${masked}): give it, or leave the header out`;
  throw refusal('custom_headers', message);
}

const refusal = (field: string, message: string): ValidationFailed =>
  new ValidationFailed([{ resource: 'Hook', field, code: 'custom', message }]);

function withoutPrevious({ previous: _, ...secrets }: HookSecrets): HookSecrets {
  return secrets;
}

/** Whoever asks for asymmetric signatures gets a key of their own. */
function withEd25519<H extends NewHook>(hook: H): H {
  if (hook.standard_webhooks !== 'ed25519' || hook.secrets.ed25519 !== undefined) return hook;
  const { privateKey } = generateKeyPairSync('ed25519');
  const ed25519 = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
  return { ...hook, secrets: { ...hook.secrets, ed25519 } };
}
