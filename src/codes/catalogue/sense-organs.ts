import type { Chapter } from "../rules.js";

/** Number and name | ICD-9-CM | ICD-10-CM. How the rules read: ../rules.ts. */
export const senseOrgans: Chapter = {
	category: "sense organs",
	table: `
360 Disorders of the globe | 360 V43.0 | H44 Z97.0
361 Retinal detachments and defects | 361 | H33
362 Other retinal disorders | 362 | H34-H36
363 Chorioretinal inflammations, scars, and other disorders of choroid | 363 | H31-H32
364 Corneal opacity and other disorders of cornea | 371 V42.5 | H17-H18 Z94.7
365 Glaucoma | 365 | H40 H42
366 Cataract | 366 V43.1 V45.61
	| +E10.36 +E11.36 +E13.36 H25-H26 H28 H59.02 Z96.1 Z98.4
367 Disorders of refraction and accommodation; blindness and low vision | 367 369 | H52 H54
368 Visual disturbances | 367.5 367.8 368 V41.0 | H52.5-H52.6 H53
369 Infection of the eye
	| 021.3 032.81 053.2 054.4 076-077 130.1 139.1 372.0 372.2 372.30 372.33 372.39 373.4-373.6
	375.3-375.4
	376.0
	| A21.1 A36.86 A71 A74.0 B00.5 B02.3 B30 B58.0 B94.0 H04.3-H04.4 H05.0 H10 H59.4
370 Keratitis | 055.71 370 | B05.81 H16
371 Inflammation of the eye
	| 130.2 360.0-360.1 363.0-363.2 364 372.1 372.3 373 376.1
	| H00-H01 H05.1 H10.4 H20 H22 H30 H44.0-H44.1
372 Disorders of conjunctiva | 372 | H10.8 H11 H13
374 Other disorders of eyelids | 374 | H02-H03
375 Disorders of lacrimal system | 375 | H04
376 Disorders of the orbit | 376 | H05-H06
377 Disorders of optic nerve and visual pathways | 377 | H46-H48
378 Strabismus and other disorders of binocular eye movements | 378 379.5 | H49-H51 H55
379 Other disorders of eye | 364.4-364.9 379 V41.1
	| H15 H19 H21 H27 H43 H57
380 Disorders of external ear | 380 | H60-H62
381 Otitis media and Eustachian tube disorders | 055.2 381-383 388.6
	| B05.3 H65-H70 H75 H92 H95.0-H95.1
382 Otalgia | 388.7 | H92.0
383 Otosclerosis | 387 | H80
384 Other disorders of tympanic membrane | 384 | H72-H73
385 Other disorders of middle ear and mastoid | 385 | H71 H74
386 Vertiginous syndromes and other disorders of vestibular system | 078.81 386 780.4
	| A88.1 H81-H83 R42
388 Other disorders of ear | 388.8-388.9 V41.3 | H93.8-H93.9 H94
389 Hearing loss | 388-389 V41.2 V53.2 | H90-H91 H93 Z45.3 Z46.1
`,
};
