export { WEBHOOKS_SETTINGS, type WebhooksConfig } from './config.js';
export { WEBHOOKS_API } from './routes/description.js';
export { type AppRegistry, createWebhooks, type Webhooks, type WebhooksNeeds } from './service.js';
