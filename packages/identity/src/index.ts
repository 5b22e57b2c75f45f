export { IDENTITY_SETTINGS, type IdentityConfig, parseRecoveryBind } from './config.js';
export type { AppHooks } from './domain/app-hooks.js';
export type { AppPrincipal } from './domain/app-jwt.js';
export type { DatabaseGrant, PasswordUsers } from './domain/password-users.js';
export type {
  FoundKey,
  NewPlatformKey,
  PlatformKeys,
  PresetPlatformKey,
} from './domain/platform-keys.js';
export type { Registry } from './domain/registry.js';
export { type IdentityError, identityError } from './errors.js';
export type { ApiToken } from './model/api-token.js';
export type { App, AppKey, AppOwner, AppSelector } from './model/app.js';
export type { IssuedPlatformKey, PlatformKey, PlatformKeyKind } from './model/platform-key.js';
export type { TokenQuota } from './routes/registry-routes.js';
export { type ErrorAnswer, isIdentityError, toErrorAnswer } from './routes/to-wire.js';
export { createIdentity, type Identity, type IdentityNeeds } from './service.js';
