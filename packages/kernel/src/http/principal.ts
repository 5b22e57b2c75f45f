import type { FastifyRequest } from 'fastify';

/** Who a request speaks for. */
export type Principal =
  | { readonly kind: 'anonymous'; readonly ip: string }
  | { readonly kind: 'admin'; readonly tokenId: number; readonly tokenName: string }
  | {
      readonly kind: 'platform_key';
      readonly platform: string;
      readonly keyKind: 'secret' | 'publishable';
      readonly livemode: boolean;
    }
  | { readonly kind: 'app'; readonly appId: number }
  | { readonly kind: 'user'; readonly userId: number }
  | { readonly kind: 'installation'; readonly installationId: number }
  | { readonly kind: 'oauth_app'; readonly clientId: string }
  | { readonly kind: 'repository'; readonly repositoryId: number };

/** Turns a request's credential into a `Principal`. Throws `NotAuthenticated` or `CredentialMalformed`. */
export interface Authenticator {
  resolve(request: FastifyRequest): Promise<Principal>;
}
