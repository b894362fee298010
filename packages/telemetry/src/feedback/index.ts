export {
  buildBundle,
  type Bundle,
  type BundledFile,
  type BundleManifest,
  type BundleOptions,
  type BundleSource,
} from './bundle.ts';
export { checkBundle, checkDescription, uploadFeedback, type FeedbackUpload } from './upload.ts';
