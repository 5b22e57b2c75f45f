export { RATE_LIMIT_SETTINGS, type RateLimitConfig } from './config.js';
export {
  type BanEvent,
  type CredentialDesk,
  createRateLimit,
  type RateLimit,
  type RateLimitNeeds,
} from './service.js';
