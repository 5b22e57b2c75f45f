import type { HttpRequest, Permission } from '@plinth/kernel';
import type { TokenDirectory, TokenRecord } from '../../domain/system-tables/tables/tokens.js';

/** A new token with its text, which is never stored. */
export interface CreatedToken {
  readonly token: TokenRecord;
  readonly text: string;
}

/** Changes of tokens, provided by another service. Methods throw its domain errors. */
export interface TokenManagement extends Pick<TokenDirectory, 'list'> {
  /** Returns the id of the valid token with this text. */
  idOf(text: string): number | undefined;
  create(newToken: {
    readonly name: string;
    /** `undefined` creates an admin token. */
    readonly permissions: readonly Permission[] | undefined;
    readonly byTokenId: number | undefined;
  }): Promise<CreatedToken>;
  delete(name: string): Promise<void>;
  /** Returns whether the first admin token exists. */
  hasFirst(): boolean;
  /** Creates the first admin token for a request that the access check has admitted. */
  createFirst(request: Pick<HttpRequest, 'principal' | 'client'>): Promise<CreatedToken>;
}
