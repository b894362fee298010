import type { Clock } from '@sallyport/core';
import type { FeedbackEngine } from '@sallyport/telemetry/server';
import type { Gates } from '../http/admission.ts';
import type { Handlers } from '../http/handler.ts';

/** The upload of feedback on its engine. */
export function feedbackHandlers(engine: FeedbackEngine, clock: Clock): Handlers['feedback'] {
  return {
    async bundle({ caller, body, readmit }) {
      // Loaded with the first form: a gateway that never gets one starts without it.
      const { readFeedbackForm } = await import('./feedback-form.ts');
      const receipt = await engine.receive(caller);
      try {
        const form = await readFeedbackForm(body, { clock, write: (chunk) => receipt.write(chunk) });
        await readmit();
        const { feedbackId } = await receipt.accept(form);
        return { feedback_id: feedbackId };
      } finally {
        await receipt.discard();
      }
    },
  };
}

/** An organization that keeps no data learns so before anything of the upload is looked at. */
export function feedbackGates(engine: FeedbackEngine): Gates {
  return {
    'feedback.bundle': async (caller) => {
      if (caller && 'organizationId' in caller) await engine.checkRetention(caller.organizationId);
    },
  };
}
