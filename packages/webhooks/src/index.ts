export { WEBHOOKS_SETTINGS, type WebhooksConfig } from './config.js';
export { describeWebhooks } from './routes/api-description.js';
export { type AppRegistry, createWebhooks, type Webhooks, type WebhooksNeeds } from './service.js';
