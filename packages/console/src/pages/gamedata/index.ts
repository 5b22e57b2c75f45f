export { ChangesPage } from './changes-page.js';
export { CollectionsPage } from './collections-page.js';
export { ExchangePage } from './exchange-page.js';
export { RecordPage } from './record-page.js';
export { RecordsPage } from './records-page.js';
export { VersionsPage } from './versions-page.js';
