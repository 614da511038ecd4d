/** Terms that mean the same, and the PheCodes that hold it, the most usual first. */
export interface Synonyms {
	readonly phecodes: readonly string[];
	readonly terms: readonly string[];
}

/**
 * Lay words and abbreviations: PheCodes | terms, which mean the same up to a semicolon. The PheCodes are those of the
 * catalogue and may be wider than the meaning. An abbreviation with two meanings stands in two lines.
 */
const table = `
008 | stomach bug, stomach flu, gastric flu, infectious gastroenteritis; food poisoning
008 | C diff, C difficile, CDI, Clostridium difficile, Clostridioides difficile
008 | salmonella; cholera; typhoid; shigella; norovirus; rotavirus; dysentery
010 | TB, consumption, tuberculosis
031 | leprosy, Hansen's disease
038 | blood poisoning, bacteremia, bloodstream infection, septicaemia
994 038 | sepsis; septic shock; SIRS; urosepsis
041 | MRSA, staph, staph infection, Staphylococcus aureus
041 | strep, streptococcus; scarlet fever; E coli; Klebsiella; Pseudomonas; H pylori, Helicobacter pylori
041 | whooping cough, pertussis; diphtheria; tetanus, lockjaw; anthrax; plague
053 | shingles, zoster
054 | cold sore, fever blister; HSV, herpes; genital herpes
070 | hepatitis; hep A, HAV, hepatitis A; hep B, HBV, hepatitis B; hep C, HCV, hepatitis C
071 | HIV, AIDS, human immunodeficiency virus, acquired immune deficiency syndrome
078 | wart, verruca; genital warts; HPV, papilloma virus, human papillomavirus; molluscum
079 | chickenpox, varicella, VZV; measles; mumps; rubella, German measles
079 | mono, mononucleosis, glandular fever, EBV, Epstein-Barr virus
079 | CMV, cytomegalovirus; dengue; rabies; Ebola; viral illness, virus, viral infection
090 | STI, STD, VD, venereal disease, sexually transmitted disease
090 | syphilis; gonorrhea; chlamydia, the clap
110 | ringworm, tinea; athlete's foot; jock itch; nail fungus, onychomycosis
112 | thrush, yeast infection, candida, moniliasis
117 | fungal infection; aspergillosis; histoplasmosis; cryptococcosis; coccidioidomycosis, valley fever
130 | Lyme, Lyme disease, borreliosis; leptospirosis; tick fever
131 | toxoplasmosis; trichomoniasis, trich
132 | scabies; lice, head lice, nits, pediculosis; crabs
133 | malaria; leishmaniasis; Chagas disease; trypanosomiasis; babesiosis
134 | worms, intestinal worms; pinworm; roundworm; tapeworm; hookworm; schistosomiasis, bilharzia
136 | Rocky Mountain spotted fever; typhus; rickettsia
980 | antibiotics, long-term antibiotics
145 | mouth cancer, oral cancer; tongue cancer; lip cancer
149 | throat cancer; laryngeal cancer; pharyngeal cancer; head and neck cancer; nasopharyngeal carcinoma
150 | esophageal cancer, esophagus cancer, gullet cancer
151 | stomach cancer, gastric cancer, gastric carcinoma
153 | CRC, bowel cancer, colon cancer, colon carcinoma; rectal cancer; anal cancer
155 | liver cancer; HCC, hepatoma, hepatocellular carcinoma; cholangiocarcinoma, bile duct cancer
157 | pancreas cancer; pancreatic adenocarcinoma, PDAC
159 | gallbladder cancer; small bowel cancer, small intestine cancer
165 | lung cancer, lung carcinoma, bronchial carcinoma
165 | NSCLC, non-small cell lung cancer; SCLC, small cell lung cancer
165 | mesothelioma
170 | bone cancer; sarcoma; osteosarcoma; Ewing sarcoma; soft tissue sarcoma
172 | melanoma, malignant melanoma
172 | BCC, basal cell carcinoma; SCC, squamous cell carcinoma of skin; nonmelanoma skin cancer; Merkel cell carcinoma
174 | breast carcinoma, mammary cancer; DCIS, ductal carcinoma in situ
175 | mastectomy, breast removal
180 | cervical cancer, cervix cancer; cervical dysplasia, CIN
182 | uterine cancer, uterus cancer, womb cancer; endometrial cancer
184 | ovarian cancer, ovary cancer
184 | vulvar cancer; vaginal cancer
185 | prostate cancer, prostate carcinoma
187 | testicular cancer, testis cancer; seminoma; penile cancer
189 | bladder cancer, urothelial carcinoma
189 | kidney cancer, renal cancer, RCC, renal cell carcinoma
190 | eye cancer; retinoblastoma; uveal melanoma
191 | brain cancer, brain tumor; glioma; glioblastoma, GBM; astrocytoma; CNS tumor
193 | thyroid carcinoma
195 | cancer, malignancy, malignant tumor; carcinoma
196 | radiation therapy, radiotherapy, XRT
197 | chemo, chemotherapy
198 | metastasis, metastases, mets, metastatic cancer, secondary cancer; brain metastases; bone metastases
200 | MPN, myeloproliferative neoplasm; polycythemia vera; essential thrombocythemia
200 | MDS, myelodysplastic syndrome, myelodysplasia
201 | Hodgkin lymphoma, Hodgkin's, HL
202 201 | lymphoma
202 | NHL, non-Hodgkin lymphoma; DLBCL; follicular lymphoma; mantle cell lymphoma
204 | leukemia, blood cancer; AML, acute myeloid leukemia; CML, chronic myeloid leukemia
204 | CLL, chronic lymphocytic leukemia; ALL, acute lymphoblastic leukemia
204 | multiple myeloma, myeloma, plasma cell myeloma
208 | colon polyp, colonic polyp, colorectal polyp, bowel polyp, colon adenoma
209 | carcinoid, neuroendocrine tumor, NET
214 | fatty lump, fatty tumor
216 | mole, nevus, benign mole
217 | birthmark; spider nevus
218 | fibroid, uterine fibroid, leiomyoma, myoma
225 | meningioma; acoustic neuroma; benign brain tumor
227 | pituitary adenoma; adrenal adenoma
228 | hemangioma, angioma
230 | Kaposi sarcoma
240 241 242 | goiter, goitre, enlarged thyroid
241 | thyroid nodule, thyroid lump; multinodular goiter
242 | hyperthyroidism, overactive thyroid, thyrotoxicosis; Graves' disease, Graves
244 | underactive thyroid, low thyroid, hypothyroid, myxedema
245 | Hashimoto's, Hashimoto thyroiditis; thyroiditis
246 244 242 | thyroid disease, thyroid problem
250 | DM, diabetes, diabetic, sugar diabetes; high blood sugar, hyperglycemia; prediabetes
250 | T2D, T2DM, type 2 diabetes, type II diabetes, adult-onset diabetes, NIDDM
250 | T1D, T1DM, type 1 diabetes, type I diabetes, juvenile diabetes, IDDM
250 | diabetic retinopathy; diabetic neuropathy; diabetic nephropathy; diabetic foot; ketoacidosis, DKA
251 | low blood sugar, hypoglycemia
252 | hyperparathyroidism; hypoparathyroidism; parathyroid
253 | pituitary; hypopituitarism; prolactinoma; acromegaly; diabetes insipidus; SIADH
255 | Addison's disease, adrenal insufficiency; Cushing's syndrome; hyperaldosteronism, Conn's syndrome
256 | PCOS, polycystic ovary syndrome, polycystic ovaries
257 | low testosterone, low T, hypogonadism
260 | malnutrition, undernutrition; cachexia, wasting; loss of appetite
261 | vitamin D deficiency, low vitamin D; vitamin B12 deficiency, B12 deficiency; rickets; scurvy
269 | protein in urine, proteinuria, albuminuria, microalbuminuria
270 | amyloidosis; MGUS, monoclonal gammopathy, paraproteinemia; PKU, phenylketonuria
271 | lactose intolerance; galactosemia
272 | high cholesterol, hypercholesterolemia; hyperlipidemia, HLD, dyslipidemia, high lipids
272 | high triglycerides, hypertriglyceridemia
274 | gout, gouty arthritis, podagra; pseudogout, CPPD
275 | hypercalcemia, high calcium; hypocalcemia, low calcium; hypomagnesemia, low magnesium; hypophosphatemia
275 | hemochromatosis, iron overload; Wilson's disease
276 | dehydration, dehydrated, hypovolemia, volume depletion
276 | low sodium, hyponatremia; high sodium, hypernatremia
276 | low potassium, hypokalemia; high potassium, hyperkalemia
276 | electrolyte imbalance; acidosis, metabolic acidosis; alkalosis
277 | metabolic syndrome; porphyria; Gilbert's syndrome
278 | obesity, obese, adiposity; morbid obesity; overweight, high BMI
279 | immunodeficiency, immune deficiency, weak immune system; CVID; hypogammaglobulinemia
280 | IDA, iron deficiency, iron deficiency anemia, low iron
281 | pernicious anemia; B12 anemia; folate deficiency; megaloblastic anemia
282 | sickle cell, sickle cell disease, SCD; thalassemia; G6PD deficiency; spherocytosis
283 | hemolytic anemia, AIHA, autoimmune hemolytic anemia
284 | aplastic anemia; pancytopenia; bone marrow failure
285 280 281 | anemia, anemic, low hemoglobin, low blood count
286 | bleeding disorder, clotting disorder; hemophilia; von Willebrand disease, VWD
286 | DIC; factor V Leiden; thrombophilia
286 | anticoagulants, blood thinners, warfarin
287 | low platelets, thrombocytopenia; ITP, immune thrombocytopenia
288 | leukocytosis, high white count; leukopenia, low white count; neutropenia; eosinophilia
289 | swollen lymph nodes, lymphadenopathy; polycythemia; hypersplenism; spleen disorder
290 | dementia, senility; vascular dementia; Lewy body dementia, DLB; frontotemporal dementia
290 | Alzheimer's, Alzheimer's disease, AD
290 | delirium, acute confusion
292 | MCI, mild cognitive impairment; memory loss, amnesia; aphasia, speech loss; forgetfulness
295 | schizophrenia; psychosis, psychotic; schizoaffective disorder; paranoia; delusional disorder
296 | depression, depressed, MDD, major depression, major depressive disorder, clinical depression
296 | bipolar, bipolar disorder, BPAD, manic depression; mania
297 | suicide, suicide attempt; suicidal, suicidal ideation; self-harm
300 | anxiety, anxiety disorder, nervousness; GAD, generalized anxiety disorder
300 | panic attack, panic disorder; phobia; social anxiety; agoraphobia
300 | PTSD, posttraumatic stress disorder, post-traumatic stress
300 | OCD, obsessive-compulsive disorder
300 | dysthymia, persistent depressive disorder
301 | borderline personality, BPD; antisocial personality
302 | gender dysphoria, gender identity; low libido
303 | somatization, somatoform disorder; hypochondria; depersonalization; conversion disorder
304 | adjustment disorder; stress reaction, stress; grief reaction
305 | anorexia nervosa, anorexia; bulimia; binge eating
306 | tension headache
312 | conduct disorder; oppositional defiant disorder, ODD; impulse control disorder; kleptomania
313 | ADHD, ADD, attention deficit, attention deficit hyperactivity disorder, hyperactivity
313 | autism, ASD, autism spectrum disorder, autistic, Asperger's
313 | Tourette's, Tourette's syndrome; tics
315 | developmental delay; intellectual disability; learning disability; dyslexia; speech delay; stuttering
316 | drug abuse, drug addiction, substance abuse, substance use disorder, SUD
316 | opioid addiction, opioid use disorder, OUD; heroin; cocaine; cannabis use, marijuana
317 | alcoholism, alcohol abuse, alcohol dependence, AUD, alcohol use disorder, drinking
317 | alcoholic liver disease; alcoholic cirrhosis; alcoholic hepatitis; delirium tremens, DTs
318 | smoking, smoker, tobacco, nicotine dependence, cigarettes
320 | meningitis, inflammation of the meninges
323 | encephalitis, brain inflammation; encephalomyelitis
324 | brain abscess; polio, poliomyelitis
327 | sleep apnea, OSA, obstructive sleep apnea
327 | insomnia, sleeplessness, trouble sleeping
331 | hydrocephalus, water on the brain; NPH; brain atrophy
332 | Parkinson's, PD, parkinsonism, shaking palsy
333 | Huntington's disease; chorea; dystonia; essential tremor
333 | RLS, restless legs, restless legs syndrome
334 | ALS, amyotrophic lateral sclerosis, motor neuron disease, MND, Lou Gehrig's disease
335 | MS, multiple sclerosis, disseminated sclerosis
337 | autonomic neuropathy; dysautonomia; POTS
338 | chronic pain; acute pain
339 | headache; cluster headache
340 | migraine, migraine headache
341 | neuromyelitis optica, NMO; transverse myelitis; demyelination
342 | hemiparesis, one-sided paralysis, half-sided weakness
343 | CP, cerebral palsy
344 | paralysis; paraplegia; quadriplegia, tetraplegia; locked-in
345 | epilepsy, epileptic; seizure, fits, convulsion
347 | narcolepsy; cataplexy
348 | encephalopathy; coma; brain swelling, cerebral edema; anoxic brain injury
350 | tremor; ataxia; gait disorder, trouble walking; loss of smell, anosmia; involuntary movements
351 | CTS, carpal tunnel, carpal tunnel syndrome; ulnar neuropathy; pinched nerve
352 | Bell's palsy, facial palsy; trigeminal neuralgia, tic douloureux
353 | thoracic outlet syndrome; brachial plexus
355 | CRPS, complex regional pain syndrome, reflex sympathetic dystrophy
356 357 | neuropathy, peripheral neuropathy, polyneuropathy, nerve damage
356 | Charcot-Marie-Tooth disease, CMT
357 | GBS, Guillain-Barré syndrome; CIDP
358 | MG, myasthenia, myasthenia gravis
359 | muscular dystrophy; Duchenne, DMD; myopathy; myotonic dystrophy
361 | retinal detachment, detached retina; retinal tear
362 | AMD, ARMD, macular degeneration, age-related macular degeneration; retinopathy; retinitis pigmentosa
364 | keratoconus; corneal disease
365 | glaucoma, POAG; high eye pressure, ocular hypertension
366 | clouded lens, cloudy lens
367 | blindness, blind; low vision, vision loss; nearsighted, myopia; farsighted, hyperopia; astigmatism; presbyopia
368 | double vision, diplopia; blurred vision; amblyopia, lazy eye
369 | pink eye, conjunctivitis; eye infection
370 | corneal ulcer
371 | uveitis; iritis; blepharitis; stye; chalazion; scleritis
372 | pterygium; red eye
375 | dry eye; tear duct
377 | optic neuritis; papilledema; optic neuropathy
378 | squint, strabismus, cross-eyed; nystagmus
379 | floaters, eye floaters
380 | ear wax, earwax, cerumen; otitis externa, swimmer's ear
381 | ear infection, middle ear infection, otitis media, AOM; glue ear; mastoiditis
382 | earache, ear pain
386 | vertigo; dizziness, dizzy; BPPV; Ménière's disease; labyrinthitis
389 | deafness, deaf, hard of hearing, hearing impairment; tinnitus, ringing in the ears
394 | rheumatic heart disease, RHD; rheumatic fever
395 | valve disease, valvular heart disease, VHD; leaky valve; MVP, mitral valve prolapse
395 | AS, aortic stenosis, aortic valve stenosis
395 | MR, mitral regurgitation, mitral insufficiency
395 394 | MS, mitral stenosis
396 | heart murmur, murmur
401 | HTN, high blood pressure, high BP, HBP, hypertensive, raised blood pressure, arterial hypertension
402 | elevated blood pressure, white coat hypertension
411 | MI, AMI, heart attack, myocardial infarction, STEMI, NSTEMI
411 | angina, angina pectoris; unstable angina
411 | CAD, CHD, IHD, coronary artery disease, coronary heart disease; ACS, acute coronary syndrome
415 | PE, pulmonary embolism, lung clot, blood clot in lung
415 | PH, PAH, pulmonary hypertension; cor pulmonale
416 | enlarged heart
418 | chest pain
420 | myocarditis; pericarditis; endocarditis; heart inflammation
425 | cardiomyopathy, weak heart muscle; HCM, hypertrophic cardiomyopathy; DCM, dilated cardiomyopathy
426 | heart block, AV block; LBBB, RBBB, bundle branch block; pacemaker; abnormal ECG, abnormal EKG; long QT
427 | AF, Afib, A-fib, atrial fibrillation; atrial flutter
427 | arrhythmia, irregular heartbeat, heart rhythm disorder, dysrhythmia; palpitations
427 | SVT, PSVT, supraventricular tachycardia; tachycardia, fast heart rate; bradycardia, slow heart rate; PVC
427 | cardiac arrest; VF, VFib, ventricular fibrillation; VT, VTach, ventricular tachycardia; sudden cardiac death
428 | CHF, HF, heart failure, cardiac failure, weak heart; HFrEF; HFpEF
430 | ICH, hemorrhagic stroke, brain bleed, brain hemorrhage, cerebral hemorrhage; SAH, subarachnoid hemorrhage
433 430 | stroke, CVA, cerebrovascular accident, brain attack, apoplexy
433 | ischemic stroke, cerebral infarction, brain infarct
433 | TIA, mini-stroke, transient ischemic attack
433 | carotid stenosis, carotid artery disease, narrowed neck artery
440 | hardening of the arteries, arteriosclerosis, atherosclerotic disease
441 | mesenteric ischemia, bowel ischemia
442 | aortic aneurysm; AAA, abdominal aortic aneurysm; aneurysm; aortic dissection
443 440 | PAD, PAOD, peripheral artery disease, peripheral arterial disease; claudication; poor circulation
443 | PVD; Raynaud's, Raynaud phenomenon
444 | arterial clot, arterial thrombosis; arterial embolism
446 | vasculitis; GCA, giant cell arteritis, temporal arteritis; GPA, Wegener's granulomatosis; polyarteritis
450 | lymphedema
451 | thrombophlebitis, superficial vein clot, phlebitis
452 | DVT, deep vein thrombosis, blood clot in leg, leg clot, venous thrombosis
452 415 | VTE, venous thromboembolism; blood clot
454 | varicosities
455 | piles
456 | CVI, venous insufficiency
457 | aspirin; antiplatelets
458 | low blood pressure, low BP; orthostatic hypotension, postural hypotension
464 475 | sinusitis, sinus infection
465 | cold, common cold, URI, URTI, upper respiratory infection; pharyngitis
470 | deviated septum
471 | nasal polyp
473 | hoarseness, voice loss, dysphonia; laryngitis; vocal cord paralysis
474 | tonsillitis, tonsils; strep throat; quinsy
476 | hay fever, allergic rhinitis, pollen allergy, nasal allergy
477 | nosebleed, nose bleed, bleeding nose
478 | sore throat, throat ache
480 | pneumonia, bronchopneumonia, CAP; lung infection, chest infection; Legionnaires' disease; COVID pneumonia
481 | flu, influenza, grippe
483 | acute bronchitis; bronchiolitis; RSV; chest cold
495 | asthma, asthmatic, bronchial asthma
496 | COPD, COAD, chronic obstructive pulmonary disease, chronic obstructive lung disease
496 | emphysema
496 | chronic bronchitis; bronchiectasis
499 | CF, cystic fibrosis, mucoviscidosis
500 | asbestosis; silicosis; pneumoconiosis, black lung
501 | aspiration pneumonia, aspiration
502 504 | ILD, interstitial lung disease; IPF, pulmonary fibrosis, lung fibrosis, scarred lungs
505 | fluid in the lungs, pulmonary edema, lung edema
506 | collapsed lung, pneumothorax; empyema
507 | pleural effusion, fluid around the lung; pleurisy
508 | atelectasis
509 | respiratory failure, breathing failure; respiratory arrest; ARDS, acute respiratory distress syndrome
512 | cough, coughing
512 | shortness of breath, SOB, dyspnea, breathlessness, breathing difficulty; wheezing, wheeze
513 | snoring; apnea; hyperventilation
514 | lung nodule, pulmonary nodule, spot on lung; abnormal chest X-ray
521 | cavity, tooth decay, dental caries
522 | tooth abscess, dental abscess; pulpitis
523 | gum disease, gingivitis; periodontitis; bleeding gums
524 | overbite, malocclusion, crooked teeth
525 | tooth loss, missing teeth; toothache
526 | TMJ, TMD, jaw pain, temporomandibular disorder
527 | dry mouth; salivary stone; sialadenitis
528 | canker sore, mouth ulcer, stomatitis, aphthous ulcer
529 | glossitis, sore tongue
530 | GERD, GORD, acid reflux, reflux, heartburn, gastroesophageal reflux disease; esophagitis
530 | Barrett's esophagus; esophageal varices; achalasia
531 | PUD, stomach ulcer; gastric ulcer; duodenal ulcer; peptic ulcer disease
532 | trouble swallowing, difficulty swallowing
535 | gastritis, stomach inflammation; duodenitis
536 | indigestion, dyspepsia, upset stomach
537 | gastroparesis; pyloric stenosis
539 | gastric bypass, bariatric surgery, weight loss surgery, gastric sleeve
540 | appendicitis, appendix
550 | hernia; inguinal hernia; hiatal hernia; umbilical hernia; ventral hernia
555 | IBD, inflammatory bowel disease
555 | Crohn's, Crohn disease, regional enteritis
555 | UC, ulcerative colitis
556 | angiodysplasia; rectal ulcer
557 | celiac, celiac disease, sprue, gluten intolerance; malabsorption
558 | gastroenteritis; colitis
559 | ileostomy; colostomy; stoma
560 | SBO, bowel obstruction, intestinal obstruction, blocked bowel; ileus
561 | diarrhea, loose stools; bloating, gas, flatulence
562 | diverticulitis; diverticulosis; diverticular disease
563 | constipated, obstipation
564 | IBS, irritable bowel, irritable bowel syndrome, spastic colon
565 | anal fissure; anal fistula; perianal abscess; rectal prolapse
567 | peritonitis
571 | cirrhosis, liver cirrhosis; chronic liver disease, CLD; liver failure; portal hypertension
571 | NAFLD, NASH, MASLD, fatty liver, fatty liver disease, hepatic steatosis
572 | ascites, fluid in the belly
573 | jaundice; abnormal liver tests, elevated liver enzymes; enlarged liver, hepatomegaly
574 | gallstone, cholelithiasis; cholecystitis; gallbladder disease
575 | cholangitis; bile duct obstruction; PSC
577 | pancreatitis, inflamed pancreas
578 | GIB, GI bleed, gastrointestinal bleeding; rectal bleeding, blood in stool; melena; hematemesis
579 | enlarged spleen, splenomegaly; abdominal mass
580 | nephrotic syndrome; glomerulonephritis, GN; nephritis, kidney inflammation; IgA nephropathy
585 | CKD, chronic kidney disease, chronic renal failure, CRF; kidney failure, renal insufficiency
585 | ESRD, ESKD, end-stage renal disease, end-stage kidney disease; dialysis, hemodialysis
585 | AKI, ARF, acute kidney injury, acute renal failure
586 | kidney cyst, renal cyst; kidney disorder
587 | kidney transplant, renal transplant
589 | abnormal kidney function
590 | kidney infection, pyelonephritis
591 | UTI, urinary infection, urine infection
592 | bladder infection, cystitis; urethritis; interstitial cystitis
593 | blood in urine, hematuria
594 | kidney stone, renal stone, nephrolithiasis, urolithiasis; bladder stone
595 | swollen kidney
596 | overactive bladder, OAB; neurogenic bladder
599 | incontinence, urinary incontinence; urinary retention; frequent urination; polyuria; nocturia; dysuria
600 | BPH, BPE, enlarged prostate, prostate enlargement, benign prostatic hyperplasia; LUTS
601 | prostatitis; epididymitis; orchitis
603 | hydrocele; varicocele; testicular torsion
604 | phimosis; Peyronie's disease; balanitis
605 | ED, impotence, impotent
609 | male infertility, low sperm count
610 | fibrocystic breast disease; breast cyst
611 | breast lump; abnormal mammogram
612 | gynecomastia; galactorrhea
613 | mastitis; breast pain; nipple discharge
614 | PID, pelvic inflammatory disease; vaginitis, vulvovaginitis; bacterial vaginosis, BV; salpingitis
615 | endometriosis; adenomyosis
618 | prolapse, pelvic organ prolapse, POP; uterine prolapse; cystocele; rectocele
621 | thick womb lining
622 | cervical polyp; endometrial polyp
624 | stress incontinence, SUI; vaginal discharge
625 | pelvic pain; dyspareunia, painful intercourse
626 | heavy periods, menorrhagia; painful periods, dysmenorrhea; amenorrhea; irregular periods; PMS
626 609 | infertility
626 | female infertility
627 | menopause; hot flashes, hot flushes; postmenopausal bleeding
792 | abnormal Pap smear, abnormal Pap; ASCUS
796 | high PSA, raised PSA
634 | miscarriage, spontaneous abortion, pregnancy loss; stillbirth
634 | ectopic, ectopic pregnancy, tubal pregnancy
635 | PPH, postpartum hemorrhage; placenta previa; placental abruption
636 | preterm labor, premature labor; threatened miscarriage
637 | premature baby, prematurity, preterm birth; low birth weight, LBW; IUGR, small for dates
638 | high-risk pregnancy
642 | preeclampsia, pre-eclampsia; eclampsia, toxemia; gestational hypertension, PIH; HELLP
643 | morning sickness, hyperemesis, hyperemesis gravidarum
649 | gestational diabetes, GDM, diabetes in pregnancy
650 | birth, childbirth, delivery, normal birth
651 | multiple pregnancy; twins; triplets
652 | breech
653 | premature rupture of membranes, PROM, PPROM; chorioamnionitis
656 | newborn jaundice, neonatal jaundice; infant respiratory distress
657 | neonatal sepsis
669 | cesarean, C-section
681 | cellulitis; abscess, skin abscess, boil, furuncle
686 | impetigo; erysipelas; pyoderma; skin infection
687 | rash, skin rash; numbness, tingling, paresthesia
690 | dandruff; seborrheic dermatitis; cradle cap
694 | vitiligo, loss of skin color; melasma
695 | SLE, lupus, systemic lupus erythematosus
695 | rosacea; lichen planus; pemphigus; pemphigoid; erythema
696 | psoriasis; psoriatic arthritis, PsA
697 | sarcoid, sarcoidosis
698 | itch, itching, itchy skin
700 | corn; callus
701 | scar; keloid; skin tag
702 | actinic keratosis, AK; seborrheic keratosis; sun damage
703 | ingrown nail, ingrown toenail
704 | hair loss, alopecia, baldness; folliculitis; hidradenitis; hirsutism
705 | sweating, hyperhidrosis; heat rash
706 | acne, pimples; sebaceous cyst; dry skin
707 | pressure ulcer, bedsore, decubitus ulcer; leg ulcer; foot ulcer; skin ulcer
709 | scleroderma, systemic sclerosis; Sjögren's syndrome; dermatomyositis; polymyositis; CTD
931 | poison ivy; poison oak
938 | sunburn
939 | eczema, atopic dermatitis; contact dermatitis; dermatitis; diaper rash
947 | hives, nettle rash; angioedema
710 | osteomyelitis, bone infection
711 | septic arthritis, joint infection; reactive arthritis, Reiter's syndrome
714 | RA, rheumatoid arthritis, rheumatoid; JIA, juvenile arthritis; rheumatism
714 716 740 | arthritis
715 | AS, ankylosing spondylitis, Bechterew's disease, axial spondyloarthritis; sacroiliitis
717 | PMR
720 | narrow spinal canal
721 | spondylosis, spinal arthritis
722 | slipped disc, herniated disc, disc prolapse; degenerative disc disease, DDD
726 | tendinitis, tendonitis; tennis elbow; rotator cuff; frozen shoulder; heel spur; bursitis
727 | trigger finger; ganglion; tenosynovitis
728 | plantar fasciitis; Dupuytren's contracture; heel pain
731 | Paget's disease of bone
732 | osteochondritis, OCD; Perthes disease
733 | avascular necrosis, osteonecrosis, AVN; nonunion
735 | bunion, hallux valgus; flat feet, flatfoot; hammer toe
737 | scoliosis, curved spine; kyphosis, hunchback
738 | spondylolisthesis
740 | OA, DJD, osteoarthritis, degenerative joint disease; wear and tear arthritis; knee arthritis; hip arthritis
743 | osteoporosis, thin bones, brittle bones; osteopenia; pathological fracture
745 | joint pain, arthralgia; knee pain; shoulder pain; hip pain
747 | congenital heart disease; hole in the heart; ASD, atrial septal defect; VSD, ventricular septal defect; PFO
747 | tetralogy of Fallot; PDA, patent ductus; coarctation
749 | cleft lip; cleft palate
751 | undescended testis, cryptorchidism; hypospadias; PKD, polycystic kidney disease; horseshoe kidney
752 | spina bifida; neural tube defect; anencephaly
755 | clubfoot; hip dysplasia, DDH
756 | Ehlers-Danlos syndrome, EDS
758 | Down syndrome, Down's, trisomy 21; Turner syndrome; Klinefelter syndrome
759 | Marfan syndrome; birth defect
760 | back pain, backache, LBP, low back pain, lumbago
761 | neck pain; stiff neck
763 | lumbar radiculopathy, pinched nerve in back
764 | sciatic pain
765 | cervical radiculopathy
766 | neuralgia, nerve pain
770 | fibromyalgia; muscle pain, myalgia; myositis
772 | muscle weakness; muscle cramp; muscle spasm
773 | leg pain; arm pain; foot pain; limb pain
780 | chills
782 | edema, swelling, water retention; swollen legs
783 | fever, high temperature, pyrexia, FUO
785 | stomach ache, belly pain, abdominal cramps, tummy ache, colic
788 | fainting, faint, passing out, blackout, syncope
789 | nausea, feeling sick; vomiting, throwing up
790 | abnormal blood test
791 | gangrene, dead tissue
797 | shock; cardiogenic shock; hypovolemic shock
798 | fatigue, tiredness, tired, exhaustion; CFS, chronic fatigue; weakness
800 | hip fracture, broken hip; broken leg; femur fracture; tibia fracture; kneecap fracture
801 | broken ankle, ankle fracture; broken foot
803 | broken arm; wrist fracture, Colles fracture; humerus fracture; collarbone fracture; forearm fracture
804 | broken hand; broken finger; broken wrist
805 | spine fracture, vertebral fracture; compression fracture; broken back; broken neck
807 | broken rib, rib fracture
809 | broken bone, fracture
817 | concussion
819 | TBI, traumatic brain injury, head injury; skull fracture; broken nose; broken jaw
818 | subdural hematoma, SDH; epidural hematoma
830 | dislocated joint; dislocated shoulder; torn meniscus
835 | knee derangement; loose body in knee
840 | sprain, sprained ankle; strain; torn ligament; ACL tear, torn ACL
841 | whiplash; neck sprain; back sprain
850 | bleeding after surgery
851 | transplant rejection, organ rejection
860 | stem cell transplant, BMT, bone marrow transplant
870 871 | cut, laceration, open wound, wound
872 | amputation
912 | bug bite; tick bite; mosquito bite
913 | bee sting; wasp sting; snake bite
916 | bruise, bruising
930 | food allergy; peanut allergy, nut allergy
941 | vaccine reaction
946 | anaphylaxis, severe allergic reaction
949 | allergy, allergic reaction
952 | SCI, spinal cord damage
965 | opioid overdose, painkiller overdose; acetaminophen overdose, paracetamol overdose
969 | antidepressant overdose
977 979 | drug allergy; penicillin allergy
979 | ADR, side effect, drug reaction; overdose
981 | alcohol poisoning
984 | lead poisoning
986 | CO poisoning, carbon monoxide poisoning
1000 | burn, scald
1001 | swallowed object; object in eye
1002 | weight loss; weight gain; failure to thrive
1009 | injury, trauma, accident
1011 | surgical complication, complication of surgery
1013 | hypoxia, low oxygen, hypoxemia
1014 | heat stroke, heatstroke; frostbite; hypothermia from cold
1100 | FH, family history
`;

function meaningsIn(text: string): Synonyms[] {
	return text
		.trim()
		.split("\n")
		.flatMap((line) => {
			const [codes = "", meanings = ""] = line.split("|");
			const phecodes = codes.trim().split(" ");
			return meanings
				.split(";")
				.map((terms) => ({ phecodes, terms: terms.split(",").map((term) => term.trim()) }));
		});
}

/** The meanings of the table. Pure, so that bundles without a search leave it out. */
export const synonyms: readonly Synonyms[] = /* @__PURE__ */ meaningsIn(table);
