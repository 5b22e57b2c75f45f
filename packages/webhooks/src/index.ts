export { WEBHOOKS_SETTINGS, type WebhooksConfig } from './config.js';
export { WEBHOOKS_API } from './routes/description.js';
export { createWebhooks, type Webhooks, type WebhooksDeps } from './service.js';
export { opensSecrets } from './storage/hook-store.js';
