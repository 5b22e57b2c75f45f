import { send, sendForJson } from './client.js';
import { Problem } from './problem.js';
import { session } from './session.js';

export interface ServerInfo {
  readonly product: string;
  readonly version: string;
  readonly build: string;
  readonly setup_needed: boolean;
  /** The requirement for creating the first token, while no token exists. */
  readonly first_token?: 'open' | 'claim_code' | 'anyone';
  readonly auth: boolean;
  readonly services: readonly string[];
  readonly node_id?: string;
  readonly cores?: number;
  readonly started?: string;
  readonly now?: string;
  readonly relational_store?: string;
}

export interface SessionInfo {
  readonly kind: 'admin' | 'open';
  readonly token_id: number | null;
  readonly name: string | null;
  readonly expiry: string | null;
}

export interface IssuedToken {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly expiry: string | null;
}

/** Fetches the server information. Does not send an editor token, which is not valid for operator routes. */
export const fetchInfo = (): Promise<ServerInfo> =>
  sendForJson('/ops/v1/info', { isOpen: session.role === 'editor' });

/** @param token used instead of the token of this tab. */
export const fetchSession = (token?: string): Promise<SessionInfo> =>
  sendForJson('/ops/v1/session', {
    isOpen: token !== undefined,
    ...(token !== undefined && token !== '' && { headers: { authorization: `Bearer ${token}` } }),
  });

/** What the token permits in the game data editor. */
export interface EditorSession {
  readonly name: string;
  readonly scopes: readonly ('read' | 'write' | 'publish' | 'admin')[];
}

/** @param token used instead of the token of this tab. */
export const fetchEditorSession = (token?: string): Promise<EditorSession> =>
  sendForJson('/api/editor/session', {
    isOpen: token !== undefined,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  });

/** @param claimCode empty when the server does not require one. */
export const createFirstToken = (claimCode: string): Promise<IssuedToken> =>
  sendForJson('/api/v3/configure/token/admin', {
    ...{ method: 'POST', isOpen: true },
    ...(claimCode !== '' && { headers: { 'x-plinth-claim-code': claimCode } }),
  });

export interface Setting {
  readonly name: string;
  readonly value?: unknown;
  readonly default?: unknown;
  readonly is_secret: boolean;
  readonly is_default: boolean;
  readonly description: string;
  readonly flag: string;
  readonly variable: string;
}

export interface LogLine {
  readonly seq: number;
  readonly time: string;
  readonly level: string;
  readonly service?: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LogPage {
  readonly lines: readonly LogLine[];
  readonly first_seq: number;
  readonly last_seq: number;
}

export const fetchSettings = async (): Promise<readonly Setting[]> =>
  (await sendForJson<{ settings: Setting[] }>('/ops/v1/settings')).settings;

export const fetchLogs = (query: {
  level?: string | undefined;
  find?: string | undefined;
  limit: number;
}): Promise<LogPage> => sendForJson('/ops/v1/logs', { query });

export interface Health {
  /** Why the server is not ready for requests. */
  readonly obstacle: string | null;
}

export async function fetchHealth(): Promise<Health> {
  try {
    await send('/ops/v1/ready');
    return { obstacle: null };
  } catch (error) {
    if (error instanceof Problem && error.status === 503) return { obstacle: error.message };
    throw error;
  }
}
