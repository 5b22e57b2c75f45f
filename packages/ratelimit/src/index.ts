export { RATE_LIMIT_SETTINGS, type RateLimitConfig } from './config.js';
export { createLimiter, type EmbeddedLimiter, type LibraryOptions } from './library.js';
export { RATE_LIMIT_API } from './routes/description.js';
export type { MiddlewareOptions, NodeMiddleware } from './routes/gate/node-middleware.js';
export { createRateLimit, type RateLimit, type RateLimitDeps } from './service.js';
export { rateLimitProblems } from './setting-problems.js';
