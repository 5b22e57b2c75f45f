export { IDENTITY_SETTINGS, type IdentityConfig } from './config.js';
export type { RawRequest } from './domain/access-gate.js';
export { EndpointDisabled, type IdentityError, TokenFileInvalid } from './errors.js';
export type { AdminToken } from './model/admin-token.js';
export { CreateNamedToken, DeleteToken, TokenObject } from './routes/schemas.js';
export { type ErrorAnswer, isIdentityError, toErrorAnswer } from './routes/to-wire.js';
export { createIdentity, type Identity, type IdentityNeeds } from './service.js';
