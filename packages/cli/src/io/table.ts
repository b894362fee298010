export { pairs, table } from '@sallyport/core/table';
