export { SallyportLogRecordExporter } from './exporter.ts';
