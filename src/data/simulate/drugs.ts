/** A drug that a visit may prescribe. Names are ingredients, codes are ATC. */
export interface Drug {
	readonly name: string;
	readonly atc: string;
	readonly daysSupply: number;
	/** Whether it is taken long-term: once started, it is refilled at visits for its conditions. Otherwise one course at a time. */
	readonly lasting: boolean;
	/** For each condition recorded at the visit, the probability that the drug is started. */
	readonly given: Readonly<Record<string, number>>;
}

function lasting(name: string, atc: string, given: Drug["given"], daysSupply = 90): Drug {
	return { name, atc, daysSupply, lasting: true, given };
}

function course(name: string, atc: string, given: Drug["given"], daysSupply: number): Drug {
	return { name, atc, daysSupply, lasting: false, given };
}

/** All drugs except insulin, which insulin.ts handles. */
export const drugs: readonly Drug[] = [
	lasting("metformin", "A10BA02", { "250": 0.4, "256": 0.1 }),
	lasting("glimepiride", "A10BB12", { "250": 0.08 }),
	lasting("sitagliptin", "A10BH01", { "250": 0.05 }),
	lasting("lisinopril", "C09AA03", { "401": 0.22, "428": 0.3, "585": 0.12, "411": 0.08 }),
	lasting("losartan", "C09CA01", { "401": 0.07, "428": 0.08 }),
	lasting("amlodipine", "C08CA01", { "401": 0.12 }),
	lasting("hydrochlorothiazide", "C03AA03", { "401": 0.14 }),
	lasting("metoprolol", "C07AB02", { "401": 0.06, "411": 0.3, "427": 0.25, "428": 0.3 }),
	lasting("furosemide", "C03CA01", { "428": 0.4, "585": 0.08 }),
	lasting("spironolactone", "C03DA01", { "428": 0.1, "571": 0.03 }),
	lasting("atorvastatin", "C10AA05", { "272": 0.2, "411": 0.25, "433": 0.15 }),
	lasting("simvastatin", "C10AA01", { "272": 0.12 }),
	lasting("clopidogrel", "B01AC04", { "411": 0.1, "433": 0.12, "443": 0.1 }),
	lasting("warfarin", "B01AA03", { "427": 0.06, "452": 0.3, "415": 0.3 }, 30),
	lasting("levothyroxine", "H03AA01", { "244": 0.5, "193": 0.5 }),
	lasting("salbutamol", "R03AC02", { "495": 0.35, "496": 0.3 }, 30),
	lasting("fluticasone and salmeterol", "R03AK06", { "495": 0.12, "496": 0.2 }, 30),
	lasting("tiotropium", "R03BB04", { "496": 0.2 }, 30),
	lasting("sertraline", "N06AB06", { "296": 0.2, "300": 0.14 }),
	lasting("alprazolam", "N05BA12", { "300": 0.08 }, 30),
	lasting("quetiapine", "N05AH04", { "295": 0.25, "296": 0.03 }, 30),
	lasting("methylphenidate", "N06BA04", { "313": 0.3 }, 30),
	lasting("donepezil", "N06DA02", { "290": 0.2 }),
	lasting("gabapentin", "N03AX12", { "338": 0.12, "356": 0.25, "357": 0.2, "345": 0.08 }, 30),
	lasting("omeprazole", "A02BC01", { "530": 0.3, "531": 0.3, "535": 0.08 }),
	lasting("allopurinol", "M04AA01", { "274": 0.25 }),
	lasting("alendronic acid", "M05BA04", { "743": 0.2 }),
	lasting("methotrexate", "L04AX03", { "714": 0.2, "696": 0.05 }, 30),
	lasting("tamsulosin", "G04CA02", { "600": 0.2 }),
	course("amoxicillin", "J01CA04", { "381": 0.5, "464": 0.35, "474": 0.4, "465": 0.1 }, 10),
	course("azithromycin", "J01FA10", { "480": 0.35, "483": 0.3, "464": 0.12, "465": 0.06 }, 5),
	course("ciprofloxacin", "J01MA02", { "591": 0.3, "590": 0.4, "562": 0.1, "601": 0.3 }, 7),
	course(
		"prednisone",
		"H02AB07",
		{ "495": 0.1, "496": 0.12, "714": 0.15, "555": 0.15, "274": 0.1 },
		10,
	),
	course("hydrocodone", "R05DA03", { "338": 0.15, "722": 0.1, "800": 0.3, "594": 0.25 }, 10),
	course("ibuprofen", "M01AE01", { "745": 0.15, "760": 0.15, "840": 0.2, "726": 0.12 }, 14),
	course("fluticasone", "R01AD08", { "476": 0.25, "475": 0.15 }, 30),
];
