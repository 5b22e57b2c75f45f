import { deletePersonalDrafts } from '../lib/storage/drafts.js';

/** Stored per tab, never in `localStorage`, a cookie or an address, so that the token is gone when the tab is closed. */
const KEY = 'plinth-token';
const ROLE_KEY = 'plinth-role';

/** An editor token is valid only for the game data editor. */
export type Role = 'admin' | 'editor';

type Message =
  | { readonly kind: 'ask' }
  | { readonly kind: 'have'; readonly token: string; readonly role: Role }
  | { readonly kind: 'signed-out' };

/** The token of this tab. Tabs of the same browser share it with new tabs and sign out together. */
class Session {
  #token = sessionStorage.getItem(KEY) ?? '';
  #role: Role = sessionStorage.getItem(ROLE_KEY) === 'editor' ? 'editor' : 'admin';
  /** The server rejected the token, or requires a token. */
  #isRefused = false;
  readonly #channel = new BroadcastChannel('plinth');
  readonly #listeners = new Set<() => void>();

  constructor() {
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'ask' && this.#token !== '') {
        const { token, role } = this;
        this.#channel.postMessage({ kind: 'have', token, role } satisfies Message);
      }
      if (data.kind === 'have' && this.#token === '') this.#set(data.token, data.role);
      if (data.kind === 'signed-out') this.#set('');
    });
    if (this.#token === '') this.#channel.postMessage({ kind: 'ask' } satisfies Message);
  }

  get token(): string {
    return this.#token;
  }

  get role(): Role {
    return this.#role;
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  signIn(token: string, role: Role = 'admin'): void {
    this.#set(token, role);
  }

  signOut(): void {
    this.#channel.postMessage({ kind: 'signed-out' } satisfies Message);
    this.#set('');
  }

  refused(): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#notify();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes whenever the token or its state changes. */
  readonly snapshot = (): string => `${this.#isRefused} ${this.#token}`;

  #set(token: string, role: Role = 'admin'): void {
    this.#token = token;
    this.#role = role;
    this.#isRefused = false;
    if (token === '') {
      sessionStorage.removeItem(KEY);
      deletePersonalDrafts();
    } else sessionStorage.setItem(KEY, token);
    sessionStorage.setItem(ROLE_KEY, role);
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const session = new Session();
