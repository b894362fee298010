/** The terms are short, in the proportions of the defaults: nobody waits for minutes here. */
export const shortTerms = {
  SALLYPORT_BRIDGE_ACK_SECONDS: '1',
  SALLYPORT_BRIDGE_REGISTRATION_TTL_SECONDS: '2',
  SALLYPORT_BRIDGE_FIRST_ATTACH_SECONDS: '3',
  SALLYPORT_BRIDGE_PRESENCE_WRITE_SECONDS: '0.5',
};
