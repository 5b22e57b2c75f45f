export { IDENTITY_SETTINGS, type IdentityConfig, parseRecoveryBind } from './config.js';
export type { ClaimCodeDelivery, FirstTokenState } from './domain/first-token-claim.js';
export { type PlatformKeys, readGivenKey } from './domain/platform-keys.js';
export type { Registry } from './domain/registry.js';
export { readTokenFile, writeTokenFile } from './domain/token-file.js';
export { identityError } from './errors.js';
export type { App } from './model/app.js';
export { type ErrorResponse, isIdentityError, toErrorResponse } from './routes/to-wire.js';
export { createIdentity, type Identity, type IdentityDeps } from './service.js';
