import { chronic, falling, inCategory, only } from "./condition.js";

const early = falling(1, 4);

export const congenital = inCategory("congenital anomalies", [
	chronic("747", "Cardiac and circulatory congenital anomalies", {
		perYear: 0.003,
		ages: early,
		everyDays: 295,
		stays: 0.9,
		carried: 0.4,
		causes: { "758": 15 },
		deadly: 1.3,
		icd9: ["7454", "7455", "7470", "7464"],
	}),
	chronic("751", "Genitourinary congenital anomalies", {
		perYear: 0.0026,
		ages: early,
		everyDays: 350,
		stays: 0.85,
		carried: 0.2,
		sex: { female: 0.5, male: 1.5 },
		also: { "591": 0.04 },
		icd9: ["7530", "75329", "75310", "75312"],
	}),
	chronic("755", "Congenital anomalies of limbs", {
		perYear: 0.0037,
		ages: early,
		everyDays: 265,
		stays: 0.8,
		carried: 0.15,
		icd9: ["75430", "75569", "75451", "75450"],
	}),
	chronic("758", "Chromosomal anomalies and genetic disorders", {
		perYear: 0.00068,
		ages: only(0, 1, 3, 12),
		everyDays: 265,
		carried: 0.4,
		deadly: 1.8,
		icd9: ["7580", "7587"],
	}),
]);
